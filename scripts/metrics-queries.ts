/** A question that people ask, and how Prometheus is asked. */
export interface ExampleQuery {
  readonly asks: string;
  readonly query: string;
}

/** By the name of the collector whose metrics they are about. */
export const collectorQueries: Readonly<Record<string, readonly ExampleQuery[]>> = {
  farms: [
    { asks: 'farms by state', query: 'sum by (status) (zlb_farm_status)' },
    { asks: 'those that serve nobody', query: 'zlb_farm_status{status=~"down|critical"} == 1' },
    { asks: 'the busiest', query: 'topk(10, zlb_farm_established_connections)' },
  ],
  appliance: [{ asks: 'which releases there are', query: 'count by (product, version, edition) (zlb_appliance_info)' }],
  activation: [
    { asks: 'days until it ends', query: '(zlb_activation_not_after_timestamp_seconds - time()) / 86400' },
    { asks: 'who is not activated', query: 'zlb_activation_status{status="deactivated"} == 1' },
  ],
  summary: [{ asks: 'farms by profile', query: 'sum by (profile) (zlb_farms)' }],
  certificates: [
    { asks: 'days left', query: 'sort((zlb_certificate_not_after_timestamp_seconds - time()) / 86400)' },
    {
      asks: 'those that a farm uses, with less than four weeks',
      query:
        'zlb_certificate_not_after_timestamp_seconds - time() < 28 * 86400 and on (appliance, file) zlb_farm_certificate_info',
    },
  ],
  backends: [
    { asks: 'which are not up', query: 'zlb_backend_status{status!="up"} == 1' },
    { asks: 'how many, also in compact mode', query: 'zlb_farm_backends{status=~"down|maintenance"} > 0' },
    {
      asks: 'share of the limit',
      query: 'zlb_backend_established_connections / (zlb_backend_max_connections > 0)',
    },
  ],
  interfaces: [
    { asks: 'bits sent a second', query: '8 * rate(zlb_interface_transmit_bytes_total[5m])' },
    { asks: 'which are down', query: 'zlb_interface_up == 0' },
  ],
  system: [
    { asks: 'busy share of the CPU', query: '1 - zlb_system_cpu_ratio{mode="idle"}' },
    { asks: 'used share of the memory', query: 'zlb_system_memory_used_bytes / zlb_system_memory_total_bytes' },
  ],
  vpn: [{ asks: 'which are not up', query: 'zlb_vpn_status{status!="up"} == 1' }],
  cluster: [{ asks: 'nodes by role and state', query: 'count by (role, status) (zlb_cluster_node_status == 1)' }],
  connections: [{ asks: 'against a week ago', query: 'zlb_connections / (zlb_connections offset 1w)' }],
  farm_config: [{ asks: 'farms without a health check', query: 'zlb_farm_health_check == 0' }],
  packages: [{ asks: 'where updates wait', query: 'zlb_packages_pending > 0' }],
  backups: [
    { asks: 'days since the newest', query: '(time() - zlb_backup_last_timestamp_seconds) / 86400' },
    { asks: 'where there is none', query: 'zlb_backups == 0' },
  ],
  letsencrypt: [
    { asks: 'not renewed by the appliance', query: 'zlb_letsencrypt_certificate_info{autorenewal="false"}' },
    {
      asks: 'days left of the others',
      query:
        'zlb_letsencrypt_certificate_info{autorenewal="true"} * on (appliance, file) group_left () (zlb_certificate_not_after_timestamp_seconds - time()) / 86400',
    },
  ],
  vip: [
    { asks: 'farms that cannot be reached', query: 'zlb_farm_reachable == 0' },
    {
      asks: 'farms that do not serve the certificate of the store',
      query: 'zlb_farm_served_certificate_in_store == 0',
    },
    {
      asks: 'days left of what is served',
      query: 'sort((zlb_farm_served_certificate_not_after_timestamp_seconds - time()) / 86400)',
    },
    { asks: 'why a probe failed', query: 'count by (reason) (zlb_farm_probe_failure_info)' },
  ],
  ipds: [{ asks: 'rules that are down', query: 'zlb_ipds_rule_status{status="down"} == 1' }],
};

export const exporterQueries: readonly ExampleQuery[] = [
  { asks: 'who does not answer', query: 'zlb_up == 0' },
  { asks: 'age of the readings', query: 'time() - zlb_collector_last_success_timestamp_seconds' },
  {
    asks: 'what fails, and why',
    query: 'sum by (appliance, collector, reason) (increase(zlb_collector_errors_total[15m])) > 0',
  },
  {
    asks: 'share of its time that an appliance spends on us',
    query: 'sum by (appliance) (rate(zlb_api_busy_seconds_total[15m]))',
  },
  {
    asks: 'how long calls take',
    query: 'histogram_quantile(0.95, sum by (appliance, le) (rate(zlb_api_request_duration_seconds_bucket[15m])))',
  },
];

export const gatewayQueries: readonly ExampleQuery[] = [
  {
    asks: 'who was refused today, and why',
    query: 'sum by (principal, reason) (increase(zlb_admin_denied_total[1d])) > 0',
  },
  {
    asks: 'what was sent today',
    query: 'sum by (appliance, method, endpoint) (increase(zlb_admin_requests_total[1d])) > 0',
  },
  {
    asks: 'how many changes wait for approval',
    query: 'sum by (state) (zlb_admin_change_requests)',
  },
];

/** As a block of Markdown, each question on the line above its query. */
export function queryBlock(queries: readonly ExampleQuery[]): string {
  return ['```promql', ...queries.flatMap(({ asks, query }) => [`# ${asks}`, query]), '```'].join('\n');
}
