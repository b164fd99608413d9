// PromQL in parts. Two jobs, or two exporters, may watch one appliance: every sum is over `once`, so that nothing counts double.

export const inFarm = 'farm=~"$farm"';
export const inService = 'service=~"$service"';

/** What tells one thing from another. */
export const farmId = 'appliance, farm';
export const serviceId = 'appliance, farm, service';
export const backendId = 'appliance, farm, service, backend';
export const fileId = 'appliance, file';
export const collectorId = 'appliance, collector';

/** Of the exporter itself: other exporters have series of these names too. */
const inExporterJobs = 'job=~"$job",job=~".*zlb.*"';

/** The series of an appliance, as the variables have them. */
export function series(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['job=~"$job"', 'appliance=~"$appliance"', ...matchers].join(', ')}}`;
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
    'severity!="none"',
    'job=~"$job|"',
    'appliance=~"$appliance|"',
  ];
  return `ALERTS{${[...all, ...matchers].join(', ')}}`;
}

export function once(by: string, expression: string): string {
  return `max by (${by}) (${expression})`;
}

/** How many there are; 0 only while there is something to count among, nothing at all while nothing is known. */
export function count(expression: string, among: string): string {
  return `count(${expression}) or 0 * count(${among})`;
}

/** Those `limit` of a gauge whose average over the range of the board is the highest: always the same, at each of its points. */
export function busiest(limit: number, by: string, selector: string): string {
  return `${once(by, selector)} and topk(${limit}, ${once(by, `avg_over_time(${selector}[$__range] @ end())`)})`;
}

/** `expression` for those forty whose `selector`, 0 or 1, was 1 for the least of the range: whatever fails is among them. */
export function leastUp(expression: string, by: string, selector: string): string {
  return `${expression} and on (${by}) bottomk(40, ${once(by, `avg_over_time(${selector}[$__range] @ end())`)})`;
}

/** The sum over things that are told apart by `identity`. */
export function total(by: string, identity: string, expression: string): string {
  return `sum by (${by}) (${once(identity, expression)})`;
}

/** The sums of the rates of a counter, for those `limit` that counted the most over the range of the board. */
export function fastest(limit: number, by: string, identity: string, selector: string): string {
  const rate = (window: string) => total(by, identity, `rate(${selector}${window})`);
  return `${rate('[$__rate_interval]')} and topk(${limit}, ${rate('[$__range] @ end()')})`;
}

/** Seconds since a time. */
export function age(by: string, selector: string): string {
  return `time() - ${once(by, selector)}`;
}

/** By how much a counter went up; the first count of its kind makes the series, which `increase` does not see. */
export function counted(selector: string, window: string): string {
  return `(${selector} unless ${selector} offset ${window}) or increase(${selector}[${window}])`;
}
