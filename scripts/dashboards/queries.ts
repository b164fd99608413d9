import { alertThresholds } from '../../src/state/alert-thresholds.ts';

// PromQL in parts. Two jobs, or two exporters, may watch one appliance: every sum is over `once`,
// so that nothing counts double.

export const inFarm = 'farm=~"$farm"';
export const inService = 'service=~"$service"';

/**
 * The labels that identify an object. Appliances of two sites may have one name; where series have
 * no such label, it changes nothing.
 */
export const applianceId = 'site, appliance';
export const farmId = 'site, appliance, farm';
export const serviceId = 'site, appliance, farm, service';
export const backendId = 'site, appliance, farm, service, backend';
export const fileId = 'site, appliance, file';
export const servedId = 'site, appliance, farm, server_name';
export const collectorId = 'site, appliance, collector';

/** The jobs of the exporter itself: other exporters have series of these names too. */
const inExporterJobs = 'job=~"$job",job=~".*zlb.*"';

/** The series of an appliance, as the variables have them. */
export function series(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['job=~"$job"', 'site=~"$site"', 'appliance=~"$appliance"', ...matchers].join(', ')}}`;
}

/** The series of an exporter, of no appliance. */
export function exporterSeries(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${[inExporterJobs, ...matchers].join(', ')}}`;
}

/** Alerts that fire; those of no appliance or no job belong to every choice. */
export function firing(...matchers: readonly string[]): string {
  const all = [
    'alertname=~"Zlb.+"',
    'alertstate="firing"',
    'job=~"$job|"',
    'site=~"$site|"',
    'appliance=~"$appliance|"',
  ];
  return `ALERTS{${[...all, ...matchers].join(', ')}}`;
}

/** The alert that always fires while the rules are loaded and an exporter answers. */
export const watchdog = firing('alertname="ZlbWatchdog"');

export function once(by: string, expression: string): string {
  return `max by (${by}) (${expression})`;
}

/**
 * Appliances with labels of zlb_appliance_info, and the site of their other series: without labels
 * of targets, only this one has it.
 */
export function infoOf(labels: string): string {
  const info = once(`job, instance, appliance, ${labels}`, series('zlb_appliance_info'));
  return once(
    `${applianceId}, ${labels}`,
    `${series('zlb_exporter_series')} * on (job, instance, appliance) group_left (${labels}) ${info}`,
  );
}

/**
 * How many there are; 0 only while there is something to count among, nothing at all while nothing
 * is known.
 */
export function count(expression: string, among: string): string {
  return `count(${expression}) or 0 * count(${among})`;
}

/**
 * Selects the ten series of a gauge with the highest average over the range of the board: the same
 * ones at each of its points.
 */
export function busiest(by: string, selector: string): string {
  return `${once(by, selector)} and topk(10, ${once(by, `avg_over_time(${selector}[$__range] @ end())`)})`;
}

/**
 * `expression` for those forty whose `selector`, 0 or 1, was 1 for the least of the range: whatever
 * fails is among them.
 */
export function leastUp(by: string, selector: string, expression = once(by, selector)): string {
  return `${expression} and on (${by}) bottomk(40, ${once(by, `avg_over_time(${selector}[$__range] @ end())`)})`;
}

/** Sums over objects that `identity` distinguishes. */
export function total(by: string, identity: string, expression: string): string {
  return `sum by (${by}) (${once(identity, expression)})`;
}

/**
 * The sums of the rates of a counter, for those ten that counted the most over the range of the
 * board. A window is several times as long as the interval in which the counter is read.
 */
export function fastest(by: string, selector: string, { identity = by, window = '$__rate_interval' } = {}): string {
  const rate = (range: string) => total(by, identity, `rate(${selector}${range})`);
  return `${rate(`[${window}]`)} and topk(10, ${rate('[$__range] @ end()')})`;
}

/** Bits for bytes: interfaces are sold and graphed in bits per second. */
export function inBits(bytes: string): string {
  return `8 * (${bytes})`;
}

/** Selects the changes through the gateway that succeeded. */
export const changesMade = series('zlb_admin_calls_total', 'code=~"2.."');

/** Seconds since a time. */
export function age(by: string, selector: string): string {
  return `time() - ${once(by, selector)}`;
}

/**
 * By how much a counter went up; the first count of its kind makes the series, which `increase`
 * does not see.
 */
export function counted(selector: string, window: string): string {
  return `(${selector} unless ${selector} offset ${window}) or increase(${selector}[${window}])`;
}

/** The part of its life that a certificate or licence has left, by these labels. */
export function lifeLeft(kind: Dated, by: string, ...matchers: readonly string[]): string {
  const [begins, ends] = validity(kind, by, matchers);
  return `(${ends} - time()) / (${ends} - ${begins} > 0)`;
}

/**
 * Returns how urgent the renewal is, by the windows of the alerts: 2 is urgent, also after the
 * end, 1 is due, 0 is later.
 */
export function expiryUrgency(kind: Dated, by: string): string {
  const [, ends] = validity(kind, by, []);
  const { expirySoonSeconds, expirySoonRatio, expiryImminentSeconds, expiryImminentRatio } = alertThresholds;
  const window = (seconds: number, ratio: number) =>
    `group by (${by}) (${ends} - time() < ${seconds} unless ${lifeLeft(kind, by)} >= ${ratio})`;
  return [
    `2 * ${window(expiryImminentSeconds, expiryImminentRatio)}`,
    window(expirySoonSeconds, expirySoonRatio),
    `0 * ${ends}`,
  ].join('\n  or ');
}

/** Metrics that have a beginning and an end of validity. */
type Dated = 'certificate' | 'activation' | 'farm_served_certificate';

function validity(kind: Dated, by: string, matchers: readonly string[]): readonly [begins: string, ends: string] {
  const date = (of: string) => once(by, series(`zlb_${kind}_${of}_timestamp_seconds`, ...matchers));
  return [date('not_before'), date('not_after')];
}

/** The part of a service's backends, without those in maintenance, that is up. */
export function backendsUpRatio(by: string, ...matchers: readonly string[]): string {
  const backends = (status: string) => series('zlb_farm_backends', ...matchers, status);
  return once(
    by,
    `${backends('status="up"')} / ignoring (status) (sum without (status) (${backends('status!="maintenance"')}) > 0)`,
  );
}

/** The part of CPU time that was not idle. */
export const cpuBusy = `sum without (mode) (${series('zlb_system_cpu_ratio', 'mode!="idle"')})`;
/** The part of the memory in use, without caches. */
export const memoryUsed = `${series('zlb_system_memory_used_bytes')} / (${series('zlb_system_memory_total_bytes')} > 0)`;
