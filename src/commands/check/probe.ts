import type { Farm } from '../../appliance/farm.ts';
import { pino } from 'pino';
import type { CallReport } from '../../appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { createPoller, createStore, watchedIn } from '../../app/create-poller.ts';
import { backends } from '../../collectors/backends.ts';
import { type Collector, type Facts, type FarmCollector, isFarmCollector } from '../../collectors/collector.ts';
import { farmConfig } from '../../collectors/farm-config.ts';
import type { ListedFarm } from '../../collectors/ask-farms.ts';
import { farms } from '../../collectors/farms.ts';
import { collectors } from '../../collectors/registry.ts';
import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import { createSlots } from '../../lib/slots.ts';
import type { Names } from '../../lib/names.ts';
import { assert, isOneOf, toError } from '../../lib/check.ts';
import { listed, oneLine } from '../../lib/text.ts';
import type { AppliancePoller } from '../../scheduler/appliance-poller.ts';
import { createCron, intervalOf } from '../../scheduler/schedule.ts';
import { applianceProblems } from '../../state/appliance-problems.ts';
import type { Problem } from '../../state/problem.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { ShownCertificate } from '../fingerprint.ts';
import { type Cost, costPerMinute, type ProbedRun } from './cost.ts';
import type { FarmProbe } from './farm-probes.ts';

/** The result of one run of each collector. */
interface ApplianceProbe {
  /** The reason for which the appliance cannot be polled at all; the probe ends there. */
  readonly failure: Failure | undefined;
  readonly calls: readonly CallReport[];
  readonly facts: Facts;
  readonly farms: readonly ListedFarm[] | undefined;
  /** The judgement of the status page about the appliance; empty if it cannot be polled. */
  readonly problems: readonly Problem[];
  /** Collectors that succeeded, and were allowed to read something. */
  readonly polled: readonly string[];
  /** Optional collectors for which the appliance has no API. */
  readonly unsupported: readonly string[];
  readonly obstacles: readonly Obstacle[];
  /** Routes that the key may not read and that their collectors do not need. */
  readonly skipped: readonly string[];
  /** The cost of a minute of polling. */
  readonly perMinute: Cost;
}

export interface Failure {
  /**
   * `nothing_enabled`: no collector was there to ask. `unproven`: something answers, but no response
   * shows that it is the API and accepts the key. The last three: it answers, and its farms cannot
   * be read.
   */
  readonly reason:
    | (typeof finalReasons)[number]
    | 'nothing_enabled'
    | 'unproven'
    | 'forbidden'
    | 'unlicensed'
    | 'farms_unread';
  readonly message: string;
}

/** The failure of one collector. */
interface Obstacle {
  readonly collector: string;
  /** Undefined for a response that has the right form and makes no sense. */
  readonly reason: FailureReason | undefined;
  readonly message: string;
}

export interface ProbeParts {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly names: Names;
  readonly stopped: AbortSignal;
}

/** A check is to end soon, and reads no more configurations of farms than this. */
const maxConfigurations = 20;
/** So many farms are read to name their backends that are down. */
const maxTroubled = 10;

/**
 * Runs each enabled collector once, those that ask farm by farm for few farms, and estimates what a
 * minute of polling will cost.
 */
export async function probeAppliance(parts: ProbeParts): Promise<ApplianceProbe> {
  const { appliance, stopped } = parts;
  const watch: Watch = { calls: [], errors: new Map(), sampled: new Map() };
  const poller = createProbePoller(parts, watch);
  const close = (): void => void poller.close();
  stopped.addEventListener('abort', close, { once: true });
  const made = new Map<Collector, readonly CallReport[]>();
  let failure: Failure | undefined;
  try {
    for (const collector of collectors) {
      // Without it, the collector has nothing to ask the appliance for.
      if (!appliance.collectors[collector.name]?.enabled || collector.makesNoCalls) continue;
      const before = watch.calls.length;
      await poller.run(collector.name);
      made.set(collector, watch.calls.slice(before));
      failure = failureOf(watch.errors.get(collector.name), watch.calls.at(-1));
      if (failure) break;
    }
    return resultOf({ ...parts, watch, poller, made, failure });
  } finally {
    stopped.removeEventListener('abort', close);
    await poller.close();
  }
}

/** The run of a poller as it is seen from outside. */
interface Watch {
  readonly calls: CallReport[];
  /** The first error of each collector, by name. */
  readonly errors: Map<string, unknown>;
  /** The farms that were read one by one, by the name of the collector. */
  readonly sampled: Map<string, Set<string>>;
}

function createProbePoller({ appliance, settings, names }: ProbeParts, watch: Watch): AppliancePoller {
  const [watched] = watchedIn(settings, [appliance]);
  assert(watched, 'one appliance is given');
  const store = createStore();
  store.arrange([appliance.name]);
  return createPoller(
    { ...watched, polling: { ...settings.polling, maxBusyRatio: 1 } },
    {
      names,
      store,
      cron: createCron(),
      inProbeSlot: createSlots(1),
      log: pino({ level: 'silent' }),
      now: Date.now,
      random: Math.random,
      onCall: (call) => void watch.calls.push(call),
      wrap: (collector) => (isFarmCollector(collector) ? sampling(collector, watch) : reporting(collector, watch)),
    },
  );
}

function reporting(collector: Exclude<Collector, FarmCollector>, watch: Watch): Collector {
  return { ...collector, collect: (context) => noted(collector, watch, collector.collect(context)) };
}

/**
 * Returns the collector for the first farm that answers, since a call of another one may take long;
 * of configurations for some: the certificates that farms present stand in them. Reads
 * the backends of the first farms that have some down, too.
 */
function sampling(collector: FarmCollector, watch: Watch): Collector {
  const maxFarms = collector.name === farmConfig.name ? maxConfigurations : 1;
  const sampled = new Set<string>();
  const maxOf = (farm: Farm): number =>
    collector.name === backends.name && hasBackendsDown(farm) ? maxTroubled : maxFarms;
  watch.sampled.set(collector.name, sampled);
  return {
    ...collector,
    covers(farm) {
      if (!collector.covers(farm) || farm.isSilent) return false;
      return sampled.size < maxOf(farm) ? sampled.add(farm.name).has(farm.name) : sampled.has(farm.name);
    },
    async begin(context) {
      const collectFarm = await noted(collector, watch, collector.begin(context));
      return (farm, own) => noted(collector, watch, collectFarm(farm, own));
    },
  };
}

/** Returns true for a farm of whose backends some are down, by the word of its appliance. */
function hasBackendsDown({ state }: Pick<Farm, 'state'>): boolean {
  return state === 'problem' || state === 'critical';
}

async function noted<Result>({ name }: Collector, { errors }: Watch, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!errors.has(name)) errors.set(name, error);
    throw error;
  }
}

interface Probed extends ProbeParts {
  readonly watch: Watch;
  readonly poller: AppliancePoller;
  readonly made: ReadonlyMap<Collector, readonly CallReport[]>;
  readonly failure: Failure | undefined;
}

function resultOf({ appliance, settings, watch, poller, made, failure: ofCalls }: Probed): ApplianceProbe {
  const { state } = poller;
  const { facts } = state;
  const status = poller.status();
  const isForbidden = ({ reason }: CallReport): boolean => reason === 'forbidden';
  const polled: string[] = [];
  const unsupported: string[] = [];
  const obstacles: Obstacle[] = [];
  const skipped: string[] = [];
  const runs: ProbedRun[] = [];
  for (const [collector, calls] of made) {
    const { isSupported, failure } = status.collectors.find(({ name }) => name === collector.name) ?? {};
    if (isSupported === false) unsupported.push(collector.name);
    else if (failure && watch.errors.has(collector.name))
      obstacles.push(obstacleOf(collector, watch.errors.get(collector.name)));
    if (!isSupported || failure || calls.length === 0) continue;
    skipped.push(...calls.filter(isForbidden).map(({ endpoint }) => endpoint));
    if (calls.every(isForbidden)) continue;
    const { schedule, maxStaleMs } = { ...collector, ...appliance.collectors[collector.name] };
    const sampled = watch.sampled.get(collector.name)?.size;
    runs.push({ collector, calls, sampled, intervalMs: intervalOf(schedule), maxStaleMs });
    polled.push(collector.name);
  }
  const failure = ofCalls ?? unprovenBy(watch.calls, obstacles) ?? withoutFarms(obstacles);
  // The report has failures of its own; what could not be read in a response is judged.
  const unreadable = status.collectors.flatMap(({ failure: _told, ...each }) => (each.unreadable ? each : []));
  const judged = { ...status, up: true, collectors: unreadable };
  return {
    failure,
    calls: watch.calls,
    facts,
    farms: state.latest(farms)?.farms,
    problems: failure ? [] : joinUnread(applianceProblems(judged, Date.now()), judged),
    polled,
    unsupported,
    obstacles,
    skipped,
    perMinute: costPerMinute(runs, {
      ...settings.polling,
      farms: facts.farms ?? [],
      configOf: (farm) => state.reading(farmConfig, farm)?.data,
    }),
  };
}

/** Makes one problem of those of all farms whose backends were not read. */
function joinUnread(problems: readonly Problem[], { name, farms: list = [] }: ApplianceStatus): readonly Problem[] {
  const unread = list.filter((farm) => farm.backends === undefined && farm.state === 'problem');
  const names = new Set(unread.map((farm) => farm.name));
  const others = problems.filter(({ alert, labels }) => alert !== 'ZlbBackendDown' || !names.has(labels?.farm ?? ''));
  if (names.size < 2) return problems;
  return [
    ...others,
    {
      level: 'warning',
      about: 'farm',
      appliance: name,
      title: `Some backends of ${listed([...names])} are down`,
      meaning: `The appliance says so; the check reads the backends of ${maxTroubled} farms at most.`,
      alert: 'ZlbBackendDown',
    },
  ];
}

/** Returns the failure of an appliance whose farms cannot be read. */
function withoutFarms(obstacles: readonly Obstacle[]): Failure | undefined {
  const obstacle = obstacles.find(({ collector }) => collector === farms.name);
  if (!obstacle) return undefined;
  const { reason, message } = obstacle;
  return { reason: reason === 'forbidden' || reason === 'unlicensed' ? reason : 'farms_unread', message };
}

/** Returns the offset of the appliance's clock in seconds, from the last response that has a date. */
export function clockOffsetOf(calls: readonly CallReport[]): number | undefined {
  return calls.findLast(({ clockOffsetSeconds }) => clockOffsetSeconds !== undefined)?.clockOffsetSeconds;
}

/** Reasons that the next call would meet too. */
const finalReasons = [
  'connect',
  'timeout',
  'tls',
  'cancelled',
  'unauthorized',
] as const satisfies readonly FailureReason[];

/**
 * Returns the failure that ends the probe; undefined for a failure of one collector, such as a
 * time-out of a call that waits for a proxy: all else may answer.
 */
export function failureOf(error: unknown, lastCall: Pick<CallReport, 'asksProxies'> | undefined): Failure | undefined {
  if (!(error instanceof ApplianceError)) return undefined;
  const { reason, message, routeMissing } = error;
  // A web server's 404 page means that the API has another path.
  if (reason === 'not_found' && !routeMissing) return { reason: 'unproven', message };
  if (reason === 'timeout' && lastCall?.asksProxies) return undefined;
  return isOneOf(finalReasons, reason) ? { reason, message } : undefined;
}

function obstacleOf({ name }: Collector, error: unknown): Obstacle {
  const reason = error instanceof ApplianceError ? error.reason : undefined;
  return { collector: name, reason, message: oneLine(toError(error).message, 250) };
}

function unprovenBy(calls: readonly CallReport[], [first]: readonly Obstacle[]): Failure | undefined {
  if (calls.some(({ authenticated }) => authenticated)) return undefined;
  if (!first) return { reason: 'nothing_enabled', message: 'no collector that asks it is enabled' };
  return { reason: 'unproven', message: first.message };
}

/** Everything that the report about one appliance needs. */
export interface ApplianceCheck {
  readonly appliance: ApplianceSettings;
  readonly address: Address;
  readonly settings: Settings;
  readonly probe: ApplianceProbe;
  /** Farms that the collector `vip` will probe; undefined if it is off or no farm is known. */
  readonly farmProbes: readonly FarmProbe[] | undefined;
  /** The L4 farms that will be probed although nobody said so. */
  readonly l4Only: readonly FarmProbe[];
  readonly shown: ShownCertificate | undefined;
  readonly nowMs: number;
}

interface Address {
  readonly host: string;
  readonly port: number;
  /** Both, with a bracketed host for IPv6, as tools expect. */
  readonly text: string;
}

export function addressOf({ url }: ApplianceSettings): Address {
  const port = Number(url.port || 443);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, text: `${url.hostname}:${port}` };
}
