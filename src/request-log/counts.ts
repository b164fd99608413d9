import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ApplianceSettings } from '../config/settings.ts';
import { isSame } from '../lib/same.ts';
import { steadyNow } from '../lib/time.ts';
import { counter, type Family, gauge, histogram } from '../metrics/family.ts';
import { type FilledRegistry, labelValue, optionsOf } from '../metrics/render.ts';
import type { BackendName, FarmStatus, LastMinute } from '../state/status.ts';
import type { LoggedResponse } from './logged-line.ts';
import { RecentRequests } from './recent.ts';

const faults = ['unreadable', 'ambiguous', 'too_long', 'malformed', 'empty', 'over_limit', 'early'] as const;
/** The values of the label `result`. */
export const lineResults = ['answer', 'denial', 'other', ...faults] as const;
export type LineResult = (typeof lineResults)[number];

const ofFarm = ['farm'];
const ofObjective = ['farm', 'objective'];
const source = '(system log of the appliance)';
const families = {
  requests: counter(
    'zlb_requests_total',
    `Responses to clients by class of status, with 500, 502, 503 and 504 apart ${source}.`,
    ['farm', 'service', 'backend', 'code'],
  ),
  duration: histogram('zlb_request_duration_seconds', `Time until the whole response was sent ${source}.`, [
    'farm',
    'service',
  ]),
  backendDuration: histogram(
    'zlb_backend_request_duration_seconds',
    `Time until the whole response was sent, by backend, without buckets ${source}.`,
    ['farm', 'service', 'backend'],
  ),
  bytes: counter('zlb_response_bytes_total', `Bytes of the bodies of responses to clients ${source}.`, ofFarm),
  denials: counter('zlb_waf_denials_total', `Requests that the web application firewall denied ${source}.`, ofFarm),
  objective: gauge(
    'zlb_objective_ratio',
    'Ratio of good requests that the objective demands (configuration).',
    ofObjective,
  ),
  farmKnown: gauge(
    'zlb_objective_farm_known',
    'Whether the appliance has the farm of an objective (configuration, and the list of farms).',
    ofFarm,
  ),
  expected: counter('zlb_objective_requests_total', `Requests to a farm with an objective ${source}.`, ofObjective),
  missed: counter(
    'zlb_objective_missed_total',
    `Requests that missed the objective: a status of 500 or more that the client did not cause, or a response that took too long ${source}.`,
    ofObjective,
  ),
  lines: counter('zlb_request_log_lines_total', 'Log lines from the appliance, by result (this exporter).', ['result']),
} as const;

export const requestFamilies: readonly Family[] = Object.values(families);

export type Objective = ApplianceSettings['requests']['objectives'][number];

/** A farm that polling knows. */
export type PolledFarm = Pick<FarmStatus, 'name'> & { readonly backends?: readonly BackendName[] | undefined };

/** Stands for every name that polling does not know, so that a sender of lines cannot create series. */
const unknown = 'unknown';
/**
 * The most names that are kept for an appliance, and the most characters of them, including those of
 * their farm and service. Only a restart forgets names that no longer exist.
 */
export const maxNames = 10_000;
export const maxNamesLength = 1_048_576;
/** Counters of failures begin at 0, so that `increase()` sees the first failure. */
const failureCodes = ['500', '502', '503', '504', '5xx_other'] as const;

export class RequestCounts {
  readonly #appliance: string;
  #bounds: readonly number[] = [];
  #objectives: ReadonlyMap<string, Objective> = new Map();
  #polledFarms: readonly PolledFarm[] = [];
  /** Farms, services and backends by their key. A name taken from a line would keep the whole line. */
  readonly #names = new Map<string, string>();
  #totalNamesLength = 0;
  readonly #recent = new Map<string, RecentRequests>();
  readonly #loggingFarms = new Set<string>();
  /** Backends whose failure counters were created, by their key. */
  readonly #initializedBackends = new Set<string>();
  readonly #registry = new Registry();
  readonly #requests = new Counter(optionsOf(families.requests, this.#registry));
  #duration: Histogram | undefined;
  readonly #backendDuration = new Histogram({ ...optionsOf(families.backendDuration, this.#registry), buckets: [] });
  readonly #farmKnown = new Gauge(optionsOf(families.farmKnown, this.#registry));
  readonly #bytes = new Counter(optionsOf(families.bytes, this.#registry));
  readonly #denials = new Counter(optionsOf(families.denials, this.#registry));
  readonly #expected = new Counter(optionsOf(families.expected, this.#registry));
  readonly #missed = new Counter(optionsOf(families.missed, this.#registry));
  readonly #lines = new Counter(optionsOf(families.lines, this.#registry));
  readonly #ratios = new Gauge(optionsOf(families.objective, this.#registry));

  /** `buckets` are the bounds of the histogram in milliseconds, ascending. */
  constructor(name: string, buckets: readonly number[], objectives: readonly Objective[]) {
    this.#appliance = labelValue(name, []);
    // From 0: without lines after a start, the counters stay 0.
    for (const result of lineResults) this.#lines.inc({ appliance: this.#appliance, result }, 0);
    this.configure(buckets, objectives);
  }

  /**
   * Applies other settings. Counters continue, except those of a removed objective, and the
   * histogram if its bounds differ.
   */
  configure(buckets: readonly number[], objectives: readonly Objective[]): void {
    const bounds = [...buckets.map((ms) => ms / 1_000), Number.POSITIVE_INFINITY];
    if (!this.#duration || !isSame(bounds, this.#bounds)) {
      this.#registry.removeSingleMetric(families.duration.name);
      this.#duration = new Histogram({ ...optionsOf(families.duration, this.#registry), buckets: bounds.slice(0, -1) });
      this.#bounds = bounds;
    }
    const before = this.#objectiveLabels();
    this.#objectives = new Map(objectives.map((each) => [each.farm, each]));
    const after = this.#objectiveLabels();
    this.#ratios.reset();
    for (const { labels, ratio } of after) {
      this.#ratios.set(labels, ratio);
      // From 0, so that `increase()` sees the first failure.
      this.#expected.inc(labels, 0);
      this.#missed.inc(labels, 0);
    }
    for (const { labels } of before.filter((each) => !after.some((other) => isSame(other.labels, each.labels)))) {
      this.#expected.remove(labels);
      this.#missed.remove(labels);
    }
  }

  #objectiveLabels() {
    return [...this.#objectives.values()].flatMap(({ farm, availabilityRatio, latency }) =>
      Object.entries({ availability: availabilityRatio, latency: latency?.ratio }).flatMap(([objective, ratio]) =>
        ratio === undefined
          ? []
          : { labels: { appliance: this.#appliance, farm: labelValue(farm, ofObjective), objective }, ratio },
      ),
    );
  }

  /** Adds the names of polled farms; undefined if polling has no list now. */
  learn(farms: readonly PolledFarm[] | undefined): void {
    this.#farmKnown.reset();
    if (!farms) return;
    const names = new Set(farms.map(({ name }) => name));
    for (const { farm } of this.#objectives.values())
      this.#farmKnown.set({ appliance: this.#appliance, farm: labelValue(farm, ofFarm) }, Number(names.has(farm)));
    for (const { name } of farms) this.#addName(name);
    for (const { name, backends = [] } of farms) {
      // An appliance may name fifty thousand backends each time.
      if (this.#isFull) break;
      for (const { service, backend } of backends) {
        this.#addName(name, service);
        this.#addName(name, service, backend);
      }
    }
    this.#polledFarms = farms;
    for (const farm of farms) if (this.#loggingFarms.has(farm.name)) this.#initializeFailures(farm);
  }

  /** True while no response of a known farm was counted. */
  get hasNoResponses(): boolean {
    return this.#loggingFarms.size === 0;
  }

  /** Returns true if polling knows the farm, and service and backend if they are given. */
  knows(...names: readonly string[]): boolean {
    return names.every((_, index) => this.#nameOf(...names.slice(0, index + 1)) !== unknown);
  }

  countLine(result: LineResult, times = 1): void {
    this.#lines.inc({ appliance: this.#appliance, result }, times);
  }

  countResponse(response: LoggedResponse, times = 1): void {
    const { farm, service, backend, code, bytes, seconds } = response;
    const labels = { appliance: this.#appliance, farm: this.#labelOf(farm) };
    const known = { ...labels, service: this.#labelOf(farm, service) };
    const ofBackend = { ...known, backend: this.#labelOf(farm, service, backend) };
    this.#initialize(farm);
    this.#requests.inc({ ...ofBackend, code: codeLabel(code) }, times);
    if (bytes !== undefined) this.#bytes.inc(labels, bytes * times);
    if (seconds !== undefined)
      for (let count = 0; count < times; count += 1) {
        this.#duration?.observe(known, seconds);
        if (backend !== '') this.#backendDuration.observe(ofBackend, seconds);
      }
    if (!this.#names.has(farm)) return;
    this.#judge(response, times);
    const recent = this.#recent.get(farm) ?? new RecentRequests();
    this.#recent.set(this.#nameOf(farm), recent);
    const bound = this.#bounds.find((each) => seconds !== undefined && seconds <= each);
    recent.add({ times, isFailed: isFailed(response), withinSeconds: bound }, steadyNow());
  }

  countDenial(farm: string, times = 1): void {
    this.#denials.inc({ appliance: this.#appliance, farm: this.#labelOf(farm) }, times);
  }

  /** Returns undefined if no line about the farm came. */
  lastMinute(farm: string): LastMinute | undefined {
    return this.#recent.get(farm)?.lastMinute(steadyNow());
  }

  /** Returns the current counters, to which the limit of series does not apply. */
  current(): FilledRegistry {
    // An estimate, by which the store renders a long reading family by family.
    return {
      registry: this.#registry,
      families: requestFamilies.map((family) => ({ family, series: this.#names.size })),
    };
  }

  get #isFull(): boolean {
    return this.#names.size >= maxNames || this.#totalNamesLength >= maxNamesLength;
  }

  #addName(...names: readonly [string, ...string[]]): void {
    if (this.#isFull) return;
    const key = nameKey(...names);
    if (this.#names.has(key)) return;
    this.#names.set(key, names.at(-1) ?? '');
    this.#totalNamesLength += key.length;
  }

  /** Returns the last of these names as polling knows it; empty where the proxy chose none. */
  #nameOf(...names: readonly string[]): string {
    return names.at(-1) === '' ? '' : (this.#names.get(nameKey(...names)) ?? unknown);
  }

  /** Returns the label value of the last of these names. */
  #labelOf(...names: readonly string[]): string {
    return labelValue(this.#nameOf(...names), families.requests.labels);
  }

  /** Creates the failure counters of a farm at 0 once it logs; before that, 0 would be false. */
  #initialize(farm: string): void {
    // An unknown name is not searched for, because anybody can send one in each line.
    if (this.#loggingFarms.has(farm) || !this.#names.has(farm)) return;
    const known = this.#polledFarms.find(({ name }) => name === farm);
    if (!known) return;
    this.#loggingFarms.add(known.name);
    this.#initializeFailures(known);
  }

  #initializeFailures({ name: farm, backends = [] }: PolledFarm): void {
    const labels = { appliance: this.#appliance, farm: this.#labelOf(farm) };
    const initialize = (service: string, backend: string, code: string) =>
      this.#requests.inc(
        { ...labels, service: this.#labelOf(farm, service), backend: this.#labelOf(farm, service, backend), code },
        0,
      );
    // The proxy itself responds 503 without a service or a backend.
    for (const service of new Set(['', ...backends.map((each) => each.service)])) initialize(service, '', '503');
    for (const { service, backend } of backends) {
      const key = nameKey(farm, this.#nameOf(farm, service), this.#nameOf(farm, service, backend));
      if (this.#initializedBackends.has(key)) continue;
      this.#initializedBackends.add(key);
      for (const code of failureCodes) initialize(service, backend, code);
    }
  }

  #judge(response: LoggedResponse, times: number): void {
    const { farm, seconds } = response;
    const { availabilityRatio, latency } = this.#objectives.get(farm) ?? {};
    const count = (objective: string, isMissed: boolean) => {
      const labels = { appliance: this.#appliance, farm: labelValue(farm, ofObjective), objective };
      this.#expected.inc(labels, times);
      if (isMissed) this.#missed.inc(labels, times);
    };
    if (availabilityRatio !== undefined) count('availability', isFailed(response));
    if (latency && seconds !== undefined) count('latency', seconds * 1_000 > latency.thresholdMs);
  }
}

function nameKey(...names: readonly string[]): string {
  return names.join('\n');
}

function isFailed({ code, isClientFault }: LoggedResponse): boolean {
  return code >= '500' && !isClientFault;
}

/** Returns the class of a status, or the status itself where it tells what is wrong behind a gateway. */
function codeLabel(code: string): string {
  if (/^50[0234]$/.test(code)) return code;
  if (code.startsWith('5')) return '5xx_other';
  return /^[1-4]/.test(code) ? `${code.charAt(0)}xx` : unknown;
}
