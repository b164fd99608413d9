import { exporterSeries, series } from './queries.ts';
import type { Threshold } from './thresholds.ts';

/** One kind of row in "what is wrong now". */
export interface Problem {
  /** 3 critical, 2 warning, 1 info: as the alert on it. */
  readonly severity: 1 | 2 | 3;
  /** Only what is wrong. */
  readonly expr: string;
  /** The labels that tell one row from another. */
  readonly by: string;
  /** Of `by`, the label that names the thing. */
  readonly object?: string;
  /** `$1` is the value of `detail`. */
  readonly words: string;
  readonly detail?: string;
}

/** All rows in one query: a table of several would be empty headings when all is well, and this one says so. */
export function problemQuery(problems: readonly Problem[]): string {
  return `max by (${problemLabels(problems).join(', ')}) (\n  ${problems.map(rows).join('\n  or ')}\n)`;
}

/** The columns of the table, as far as any of the problems has them. */
export function problemLabels(problems: readonly Problem[]): readonly ('appliance' | 'farm' | 'object' | 'problem')[] {
  const told = new Set(problems.flatMap(({ by }) => by.split(', ')));
  return [...(['appliance', 'farm'] as const).filter((label) => told.has(label)), 'object', 'problem'];
}

function rows({ severity, expr, by, object, words, detail = 'appliance' }: Problem): string {
  const weighed = `${severity} * group by (${by}) (${expr})`;
  const named = object === undefined ? weighed : relabelled(weighed, 'object', '$1', object);
  return relabelled(named, 'problem', words, detail);
}

function relabelled(expr: string, label: string, text: string, from: string): string {
  return `label_replace(${expr}, "${label}", "${text}", "${from}", "(.*)")`;
}

/** Without these, an empty table could as well mean that nobody looks. */
export function blindness(): readonly Problem[] {
  const up = exporterSeries('up');
  return [
    { severity: 3, expr: `absent(${up})`, by: '', words: 'no exporter is scraped: nothing is known' },
    {
      severity: 3,
      expr: `${up} == 0`,
      by: 'instance',
      object: 'instance',
      words: 'the exporter does not answer: nothing is known',
    },
    { severity: 2, expr: 'absent(zlb:threshold)', by: '', words: 'zlb.rules.yml is not loaded: there are no alerts' },
  ];
}

export function exporterProblems(threshold: Threshold): readonly Problem[] {
  const late = threshold('collector_stale_intervals');
  // One row for such an appliance is enough; that nothing can be read follows.
  const otherwiseKnown = `unless on (appliance) (${series('zlb_up')} == 0) unless on (appliance) (${series('zlb_activation_status', 'status="deactivated"')} == 1)`;
  return [
    {
      severity: 2,
      expr: `time() - ${series('zlb_collector_last_success_timestamp_seconds')} > ${late} * ${series('zlb_collector_interval_seconds')} ${otherwiseKnown}`,
      by: 'appliance, collector',
      object: 'collector',
      words: 'no fresh reading',
    },
    {
      severity: 2,
      expr: `${series('zlb_collector_success')} == 0 unless ${series('zlb_collector_last_success_timestamp_seconds')} ${otherwiseKnown}`,
      by: 'appliance, collector',
      object: 'collector',
      words: 'no reading yet',
    },
    {
      severity: 2,
      expr: `increase(${series('zlb_exporter_series_dropped_total')}[15m]) > 0`,
      by: 'appliance, reason',
      words: 'series are left out: $1',
      detail: 'reason',
    },
    {
      severity: 2,
      expr: `${exporterSeries('zlb_exporter_config_last_reload_successful')} == 0`,
      by: 'instance',
      object: 'instance',
      words: 'the configuration was refused',
    },
  ];
}

export function applianceProblems(threshold: Threshold): readonly Problem[] {
  return [
    { severity: 3, expr: `${series('zlb_up')} == 0`, by: 'appliance', words: 'the appliance does not answer' },
    {
      severity: 2,
      expr: `abs(${series('zlb_appliance_clock_offset_seconds')}) > ${threshold('clock_offset_seconds')}`,
      by: 'appliance',
      words: 'its clock is wrong',
    },
    {
      severity: 2,
      expr: `${series('zlb_vpn_status', 'status!~"up|needed_restart|unknown"')} == 1`,
      by: 'appliance, vpn, status',
      object: 'vpn',
      words: 'VPN: $1',
      detail: 'status',
    },
    {
      severity: 2,
      expr: `${series('zlb_cluster_node_status', 'status!~"ok|not_configured|unknown"')} == 1`,
      by: 'appliance, node, status',
      object: 'node',
      words: 'cluster node: $1',
      detail: 'status',
    },
    {
      severity: 2,
      expr: `${series('zlb_interface_up')} == 0 and max_over_time(${series('zlb_interface_up')}[1d]) == 1`,
      by: 'appliance, interface',
      object: 'interface',
      words: 'the interface is down',
    },
    {
      severity: 2,
      expr: `1 - ${series('zlb_system_cpu_ratio', 'mode="idle"')} > ${threshold('cpu_busy_ratio')}`,
      by: 'appliance',
      words: 'the CPU is saturated',
    },
    {
      severity: 2,
      expr: `${series('zlb_system_memory_used_bytes')} / ${series('zlb_system_memory_total_bytes')} > ${threshold('memory_used_ratio')}`,
      by: 'appliance',
      words: 'memory is short',
    },
  ];
}

/** `matchers` narrow to a farm, on the board that has that variable. */
export function farmProblems(...matchers: readonly string[]): readonly Problem[] {
  const status = (states: string) => `${series('zlb_farm_status', ...matchers, `status=~"${states}"`)} == 1`;
  const farm = { by: 'appliance, farm, status', detail: 'status' } as const;
  return [
    { severity: 3, expr: status('down|critical'), ...farm, words: 'the farm is $1' },
    { severity: 2, expr: status('problem|unknown'), ...farm, words: 'the farm is in state $1' },
    { severity: 2, expr: status('needed_restart'), ...farm, words: 'the farm waits for a restart' },
    {
      severity: 2,
      expr: `${series('zlb_backend_status', ...matchers, 'status="down"')} == 1`,
      by: 'appliance, farm, service, backend',
      object: 'backend',
      words: 'the backend is down',
    },
  ];
}

export function certificateProblems(threshold: Threshold): readonly Problem[] {
  const left = `${series('zlb_certificate_not_after_timestamp_seconds')} - time()`;
  const file = { by: 'appliance, file', object: 'file' } as const;
  const soon = threshold('certificate_expiry_soon_seconds');
  const imminent = threshold('certificate_expiry_imminent_seconds');
  const windows = [
    { test: '< 0', words: 'the certificate has expired', used: 3 },
    { test: `>= 0 < ${imminent}`, words: `the certificate expires within ${imminent / 86_400} days`, used: 3 },
    { test: `>= ${imminent} < ${soon}`, words: `the certificate expires within ${soon / 86_400} days`, used: 2 },
  ] as const;
  return [
    ...windows.flatMap(({ test, words, used }): Problem[] => [
      { severity: used, expr: `${left} ${test} unless on (appliance, file) zlb:certificate_unused`, ...file, words },
      {
        severity: used === 3 ? 2 : 1,
        expr: `${left} ${test} and on (appliance, file) zlb:certificate_unused`,
        ...file,
        words: `${words}, but no farm uses it`,
      },
    ]),
    {
      severity: 3,
      expr: `${series('zlb_certificate_not_before_timestamp_seconds')} > time()`,
      ...file,
      words: 'the certificate is not valid yet',
    },
    {
      severity: 2,
      expr: `${series('zlb_certificate_parse_error')} == 1`,
      ...file,
      words: 'the certificate cannot be read',
    },
    {
      severity: 2,
      expr: `${series('zlb_certificate_status', 'status="invalid"')} == 1`,
      ...file,
      words: 'the certificate does not load',
    },
    {
      severity: 3,
      expr: `${series('zlb_farm_certificate_info')} unless on (appliance, file) ${series('zlb_certificate_info')} and on (appliance) ${series('zlb_certificates')}`,
      by: 'appliance, farm, file',
      object: 'file',
      words: 'the farm names a certificate that is not there',
    },
  ];
}

export function activationProblems(threshold: Threshold): readonly Problem[] {
  const left = `${series('zlb_activation_not_after_timestamp_seconds')} - time()`;
  const permanent = `on (appliance) ${series('zlb_activation_info', 'kind="permanent"')}`;
  const soon = threshold('activation_expiry_soon_seconds');
  const imminent = threshold('activation_expiry_imminent_seconds');
  const status = (state: string) => `${series('zlb_activation_status', `status="${state}"`)} == 1`;
  return [
    { severity: 3, expr: status('deactivated'), by: 'appliance', words: 'the appliance is deactivated' },
    { severity: 3, expr: `${left} < 0 unless ${permanent}`, by: 'appliance', words: 'the licence has ended' },
    { severity: 1, expr: status('unknown'), by: 'appliance', words: 'nobody can tell whether it is activated' },
    {
      severity: 3,
      expr: `${left} >= 0 < ${imminent} unless ${permanent}`,
      by: 'appliance',
      words: `the licence ends within ${imminent / 86_400} days`,
    },
    {
      severity: 2,
      expr: `${left} >= ${imminent} < ${soon} unless ${permanent}`,
      by: 'appliance',
      words: `the licence ends within ${soon / 86_400} days`,
    },
    { severity: 2, expr: `${left} < 0 and ${permanent}`, by: 'appliance', words: 'the support contract has ended' },
  ];
}

export function adminProblems(): readonly Problem[] {
  return [
    {
      severity: 3,
      expr: `increase(${exporterSeries('zlb_admin_audit_write_failures_total')}[10m]) > 0`,
      by: 'instance',
      object: 'instance',
      words: 'the audit cannot be written: changes are refused',
    },
    {
      severity: 1,
      expr: `${exporterSeries('zlb_admin_frozen')} == 1`,
      by: 'instance',
      object: 'instance',
      words: 'all changes are frozen',
    },
  ];
}
