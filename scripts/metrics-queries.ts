/** A question that people ask, and how Prometheus is asked. */
export interface ExampleQuery {
  readonly asks: string;
  readonly query: string;
}

/** By the collector whose metrics they are about; a mere comparison needs no example. */
export const collectorQueries: Readonly<Record<string, readonly ExampleQuery[]>> = {
  farms: [
    { asks: 'farms by state', query: 'sum by (status) (zlb_farm_status)' },
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
  ],
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
    { asks: 'the number of them, also in compact mode', query: 'zlb_farm_backends{status=~"down|maintenance"} > 0' },
    {
      asks: 'used part of the connection limit',
      query: 'zlb_backend_established_connections / (zlb_backend_max_connections > 0)',
    },
  ],
  interfaces: [{ asks: 'bits sent per second', query: '8 * rate(zlb_interface_transmit_bytes_total[5m])' }],
  system: [{ asks: 'busy part of the CPU', query: '1 - zlb_system_cpu_ratio{mode="idle"}' }],
  backups: [{ asks: 'days since the newest backup', query: '(time() - zlb_backup_last_timestamp_seconds) / 86400' }],
};

export const exporterQueries: readonly ExampleQuery[] = [
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

export const requestQueries: readonly ExampleQuery[] = [
  {
    asks: 'part of the requests that were answered with an error, by farm',
    query:
      'sum by (appliance, farm) (rate(zlb_requests_total{code=~"5.."}[5m])) / sum by (appliance, farm) (rate(zlb_requests_total[5m]))',
  },
  {
    asks: '95th percentile of the time, by service',
    query:
      'histogram_quantile(0.95, sum by (appliance, farm, service, le) (rate(zlb_request_duration_seconds_bucket[5m])))',
  },
  {
    asks: 'backends with the most errors',
    query: 'topk(10, sum by (appliance, farm, backend) (rate(zlb_requests_total{code=~"5.."}[5m])) > 0)',
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
];

/** As a block of Markdown, each question on the line above its query. */
export function queryBlock(queries: readonly ExampleQuery[]): string {
  return ['```promql', ...queries.flatMap(({ asks, query }) => [`# ${asks}`, query]), '```'].join('\n');
}
