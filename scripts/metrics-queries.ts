/** A question that people ask, and how Prometheus is asked. */
export interface ExampleQuery {
  readonly asks: string;
  readonly query: string;
}

/** By the name of the collector whose metrics they are about. */
export const collectorQueries: Readonly<Record<string, readonly ExampleQuery[]>> = {
  farms: [
    { asks: 'farms by state', query: 'sum by (status) (zlb_farm_status)' },
    { asks: 'farms that serve nobody', query: 'zlb_farm_status{status=~"down|critical"} == 1' },
    { asks: 'farms with the most connections', query: 'topk(10, zlb_farm_established_connections)' },
  ],
  appliance: [
    { asks: 'appliances by release', query: 'count by (product, version, edition) (zlb_appliance_info)' },
    {
      asks: 'farms of Enterprise appliances, in their present state',
      query: 'zlb_appliance_info{edition="enterprise"} * on (appliance) group_right zlb_farm_status == 1',
    },
  ],
  activation: [
    { asks: 'days until the activation ends', query: '(zlb_activation_not_after_timestamp_seconds - time()) / 86400' },
    { asks: 'appliances that are not activated', query: 'zlb_activation_status{status="deactivated"} == 1' },
  ],
  summary: [{ asks: 'farms by profile', query: 'sum by (profile) (zlb_farms)' }],
  certificates: [
    {
      asks: 'days left of each certificate',
      query: 'sort((zlb_certificate_not_after_timestamp_seconds - time()) / 86400)',
    },
    {
      asks: 'certificates that a farm uses and that end within four weeks',
      query:
        'zlb_certificate_not_after_timestamp_seconds - time() < 28 * 86400 and on (appliance, file) zlb_farm_certificate_info',
    },
  ],
  backends: [
    { asks: 'backends that are not up', query: 'zlb_backend_status{status!="up"} == 1' },
    { asks: 'the number of them, also in compact mode', query: 'zlb_farm_backends{status=~"down|maintenance"} > 0' },
    {
      asks: 'used part of the connection limit',
      query: 'zlb_backend_established_connections / (zlb_backend_max_connections > 0)',
    },
  ],
  interfaces: [
    { asks: 'bits sent per second', query: '8 * rate(zlb_interface_transmit_bytes_total[5m])' },
    { asks: 'interfaces that are down', query: 'zlb_interface_up == 0' },
  ],
  system: [
    { asks: 'busy part of the CPU', query: '1 - zlb_system_cpu_ratio{mode="idle"}' },
    { asks: 'used part of the memory', query: 'zlb_system_memory_used_bytes / zlb_system_memory_total_bytes' },
  ],
  vpn: [{ asks: 'VPNs that are not up', query: 'zlb_vpn_status{status!="up"} == 1' }],
  cluster: [{ asks: 'nodes by role and state', query: 'count by (role, status) (zlb_cluster_node_status == 1)' }],
  connections: [{ asks: 'compared with a week ago', query: 'zlb_connections / (zlb_connections offset 1w)' }],
  farm_config: [{ asks: 'farms without a health check', query: 'zlb_farm_health_check == 0' }],
  packages: [{ asks: 'appliances with pending updates', query: 'zlb_packages_pending > 0' }],
  backups: [
    { asks: 'days since the newest backup', query: '(time() - zlb_backup_last_timestamp_seconds) / 86400' },
    { asks: 'appliances without a backup', query: 'zlb_backups == 0' },
  ],
  letsencrypt: [
    {
      asks: 'certificates that the appliance does not renew',
      query: 'zlb_letsencrypt_certificate_info{autorenewal="false"}',
    },
    {
      asks: 'days left of certificates that it renews',
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
      asks: 'days left of served certificates',
      query: 'sort((zlb_farm_served_certificate_not_after_timestamp_seconds - time()) / 86400)',
    },
    { asks: 'failed probes by reason', query: 'count by (reason) (zlb_farm_probe_failure_info)' },
  ],
  ipds: [{ asks: 'rules that are down', query: 'zlb_ipds_rule_status{status="down"} == 1' }],
};

export const exporterQueries: readonly ExampleQuery[] = [
  { asks: 'appliances that do not answer', query: 'zlb_up == 0' },
  { asks: 'age of the readings', query: 'time() - zlb_collector_last_success_timestamp_seconds' },
  {
    asks: 'failed calls by collector and reason',
    query: 'sum by (appliance, collector, reason) (increase(zlb_collector_errors_total[15m])) > 0',
  },
  {
    asks: 'part of its time that an appliance spends on polls',
    query: 'sum by (appliance) (rate(zlb_api_busy_seconds_total[15m]))',
  },
  {
    asks: '95th percentile of the duration of calls',
    query: 'histogram_quantile(0.95, sum by (appliance, le) (rate(zlb_api_request_duration_seconds_bucket[15m])))',
  },
];

export const gatewayQueries: readonly ExampleQuery[] = [
  {
    asks: 'refused requests of a day by token and reason',
    query: 'sum by (principal, reason) (increase(zlb_admin_denied_total[1d])) > 0',
  },
  {
    asks: 'changes of a day by operation',
    query: 'sum by (appliance, method, endpoint) (increase(zlb_admin_changes_total[1d])) > 0',
  },
  {
    asks: 'open change requests',
    query: 'sum by (state) (zlb_admin_change_requests_open)',
  },
];

/** As a block of Markdown, each question on the line above its query. */
export function queryBlock(queries: readonly ExampleQuery[]): string {
  return ['```promql', ...queries.flatMap(({ asks, query }) => [`# ${asks}`, query]), '```'].join('\n');
}
