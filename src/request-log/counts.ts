import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { isSame } from '../lib/same.ts';
import { steadyNow } from '../lib/time.ts';
import { counter, type Family, gauge, histogram } from '../metrics/family.ts';
import { type FilledRegistry, labelValue, optionsOf } from '../metrics/render.ts';
import type { BackendName, FarmStatus, LastMinute } from '../state/status.ts';
import type { FrameFault } from './frames.ts';
import type { LineFault, LoggedAnswer, LoggedRequest } from './logged-line.ts';
import { RecentRequests } from './recent.ts';

export type LineResult = LoggedRequest['kind'] | LineFault | FrameFault | 'over_limit' | 'early';

const ofFarm = ['farm'];
const ofObjective = ['farm', 'objective'];
const source = '(system log of the appliance)';
const families = {
  requests: counter(
    'zlb_requests_total',
    `Answers to clients by class of status, and 500, 502, 503 and 504 by themselves ${source}.`,
    ['farm', 'service', 'backend', 'code'],
  ),
  duration: histogram('zlb_request_duration_seconds', `Time until a request was answered in whole ${source}.`, [
    'farm',
    'service',
  ]),
  backendDuration: histogram(
    'zlb_backend_request_duration_seconds',
    `Time until a request was answered in whole, by backend and without bounds ${source}.`,
    ['farm', 'service', 'backend'],
  ),
  bytes: counter('zlb_response_bytes_total', `Bytes of bodies of answers to clients ${source}.`, ofFarm),
  denials: counter('zlb_waf_denials_total', `Requests that the web application firewall denied ${source}.`, ofFarm),
  objective: gauge('zlb_objective_ratio', 'Part of the requests that is to be good (configuration).', ofObjective),
  farmKnown: gauge(
    'zlb_objective_farm_known',
    'Whether the appliance has the farm of an objective (configuration, and the list of farms).',
    ofFarm,
  ),
  expected: counter('zlb_objective_requests_total', `Requests to a farm with an objective ${source}.`, ofObjective),
  missed: counter(
    'zlb_objective_missed_total',
    `Requests that missed it: a status of 500 or more without a fault of the client, or an answer that took longer ${source}.`,
    ofObjective,
  ),
  lines: counter('zlb_request_log_lines_total', 'Lines from the appliance, by what became of them (this exporter).', [
    'result',
  ]),
} as const;

export const requestFamilies: readonly Family[] = Object.values(families);

export interface Objective {
  readonly farm: string;
  readonly availabilityRatio?: number | undefined;
  readonly latency?: { readonly thresholdMs: number; readonly ratio: number } | undefined;
}

/** A farm that polling knows. */
export type LoggedFarm = Pick<FarmStatus, 'name'> & { readonly backends?: readonly BackendName[] | undefined };

/** Stands for every name that polling does not know: who sends lines cannot make series. */
const unknown = 'unknown';
/**
 * The most names that are kept for an appliance, and the most characters of them with those of
 * their farm and service; a restart forgets those that are gone.
 */
export const maxNames = 10_000;
export const maxNameLength = 1_048_576;
const faults = ['unreadable', 'ambiguous', 'too_long', 'malformed', 'empty', 'over_limit', 'early'] as const;
/** Failures of a backend that begin at 0, so that the first one is a difference. */
const failureCodes = ['500', '502', '503', '504', '5xx_other'] as const;
export const lineResults: readonly LineResult[] = ['answer', 'denial', 'other', ...faults];

export class RequestCounts {
  readonly #registry = new Registry();
  readonly #appliance: string;
  readonly #recent = new Map<string, RecentRequests>();
  /** Farms, services and backends by their key: the names in a line would keep all of its text. */
  readonly #names = new Map<string, string>();
  #nameLength = 0;
  #bounds: readonly number[] = [];
  #objectives: ReadonlyMap<string, Objective> = new Map();
  readonly #requests = new Counter(optionsOf(families.requests, this.#registry));
  #duration: Histogram | undefined;
  readonly #backendDuration = new Histogram({ ...optionsOf(families.backendDuration, this.#registry), buckets: [] });
  readonly #farmKnown = new Gauge(optionsOf(families.farmKnown, this.#registry));
  readonly #loggingFarms = new Set<string>();
  /** Backends whose failure counters were created, by their key. */
  readonly #initializedBackends = new Set<string>();
  #learned: readonly LoggedFarm[] = [];
  readonly #bytes = new Counter(optionsOf(families.bytes, this.#registry));
  readonly #denials = new Counter(optionsOf(families.denials, this.#registry));
  readonly #expected = new Counter(optionsOf(families.expected, this.#registry));
  readonly #missed = new Counter(optionsOf(families.missed, this.#registry));
  readonly #lines = new Counter(optionsOf(families.lines, this.#registry));
  readonly #ratios = new Gauge(optionsOf(families.objective, this.#registry));

  /** `buckets` are the bounds of the histogram in milliseconds, ascending. */
  constructor(name: string, buckets: readonly number[], objectives: readonly Objective[]) {
    this.#appliance = labelValue(name, []);
    // From the beginning: a log that is silent after a start is a count that stays 0.
    for (const result of lineResults) this.#lines.inc({ appliance: this.#appliance, result }, 0);
    this.configure(buckets, objectives);
  }

  /**
   * Takes other settings. Counts go on, except those of an objective that is gone, and the
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
      // From the beginning: the first failure is a difference to 0.
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

  /** Adds names that polling knows; undefined if it knows no list of farms now. */
  learn(farms: readonly LoggedFarm[] | undefined): void {
    this.#farmKnown.reset();
    if (!farms) return;
    const names = new Set(farms.map(({ name }) => name));
    for (const { farm } of this.#objectives.values())
      this.#farmKnown.set({ appliance: this.#appliance, farm: labelValue(farm, ofFarm) }, Number(names.has(farm)));
    for (const { name } of farms) this.#know(name);
    for (const { name, backends = [] } of farms) {
      // Nothing more is kept: an appliance may name fifty thousand backends each time.
      if (this.#isFull) break;
      for (const { service, backend } of backends) {
        this.#know(name, service);
        this.#know(name, service, backend);
      }
    }
    this.#learned = farms;
    for (const farm of farms) if (this.#loggingFarms.has(farm.name)) this.#initializeFailures(farm);
  }

  /** True while no answer of a known farm was counted. */
  get hasNoAnswers(): boolean {
    return this.#loggingFarms.size === 0;
  }

  /** Returns true if polling knows a farm, and its service and backend where a request has them. */
  knows(...names: readonly string[]): boolean {
    return names.every((_, index) => this.#nameOf(...names.slice(0, index + 1)) !== unknown);
  }

  countLine(result: LineResult, times = 1): void {
    this.#lines.inc({ appliance: this.#appliance, result }, times);
  }

  answered(answer: LoggedAnswer, times = 1): void {
    const { farm, service, backend, code, bytes, seconds } = answer;
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
    this.#judge(answer, times);
    const recent = this.#recent.get(farm) ?? new RecentRequests();
    this.#recent.set(this.#nameOf(farm), recent);
    const bound = this.#bounds.find((each) => seconds !== undefined && seconds <= each);
    recent.add({ times, isFailed: isFailed(answer), withinSeconds: bound }, steadyNow());
  }

  denied(farm: string, times = 1): void {
    this.#denials.inc({ appliance: this.#appliance, farm: this.#labelOf(farm) }, times);
  }

  /** Returns the last minute of a farm; undefined if no line about it came. */
  lastMinute(farm: string): LastMinute | undefined {
    return this.#recent.get(farm)?.lastMinute(steadyNow());
  }

  /** Returns the current counts; they are not under the limit of series, and not counted. */
  reading(): FilledRegistry {
    // The store renders a long reading family by family.
    return {
      registry: this.#registry,
      families: requestFamilies.map((family) => ({ family, series: this.#names.size })),
    };
  }

  get #isFull(): boolean {
    return this.#names.size >= maxNames || this.#nameLength >= maxNameLength;
  }

  #know(...names: readonly [string, ...string[]]): void {
    if (this.#isFull) return;
    const key = keyOf(...names);
    if (this.#names.has(key)) return;
    this.#names.set(key, names.at(-1) ?? '');
    this.#nameLength += key.length;
  }

  /** Returns the last of these names as polling knows it; empty where the proxy chose none. */
  #nameOf(...names: readonly string[]): string {
    return names.at(-1) === '' ? '' : (this.#names.get(keyOf(...names)) ?? unknown);
  }

  /** Returns the label value of the last of these names. */
  #labelOf(...names: readonly string[]): string {
    return labelValue(this.#nameOf(...names), families.requests.labels);
  }

  /** Creates the failure counters of a farm at 0 once it logs: before, 0 would be false. */
  #initialize(farm: string): void {
    // A name that is not known is not searched for: anybody can send one in each line.
    if (this.#loggingFarms.has(farm) || !this.#names.has(farm)) return;
    const known = this.#learned.find(({ name }) => name === farm);
    if (!known) return;
    this.#loggingFarms.add(known.name);
    this.#initializeFailures(known);
  }

  #initializeFailures({ name: farm, backends = [] }: LoggedFarm): void {
    const labels = { appliance: this.#appliance, farm: this.#labelOf(farm) };
    const initialize = (service: string, backend: string, code: string) =>
      this.#requests.inc(
        { ...labels, service: this.#labelOf(farm, service), backend: this.#labelOf(farm, service, backend), code },
        0,
      );
    // The proxy itself says when no service or no backend is there.
    for (const service of new Set(['', ...backends.map((each) => each.service)])) initialize(service, '', '503');
    for (const { service, backend } of backends) {
      const key = keyOf(farm, this.#nameOf(farm, service), this.#nameOf(farm, service, backend));
      if (this.#initializedBackends.has(key)) continue;
      this.#initializedBackends.add(key);
      for (const code of failureCodes) initialize(service, backend, code);
    }
  }

  #judge(answer: LoggedAnswer, times: number): void {
    const { farm, seconds } = answer;
    const { availabilityRatio, latency } = this.#objectives.get(farm) ?? {};
    const count = (objective: string, isMissed: boolean) => {
      const labels = { appliance: this.#appliance, farm: labelValue(farm, ofObjective), objective };
      this.#expected.inc(labels, times);
      if (isMissed) this.#missed.inc(labels, times);
    };
    if (availabilityRatio !== undefined) count('availability', isFailed(answer));
    if (latency && seconds !== undefined) count('latency', seconds * 1_000 > latency.thresholdMs);
  }
}

function keyOf(...names: readonly string[]): string {
  return names.join('\n');
}

function isFailed({ code, isClientFault }: LoggedAnswer): boolean {
  return code >= '500' && !isClientFault;
}

/** Returns the class of a status, or one that says by itself what is wrong behind a gateway. */
function codeLabel(code: string): string {
  if (/^50[0234]$/.test(code)) return code;
  if (code.startsWith('5')) return '5xx_other';
  return /^[1-4]/.test(code) ? `${code.charAt(0)}xx` : unknown;
}
