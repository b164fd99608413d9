import type { Farm } from '../../appliance/farm.ts';
import { pino } from 'pino';
import type { CallReport } from '../../appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { createPoller, createStore, watchedAppliances } from '../../app/create-poller.ts';
import { backendsCollector } from '../../collectors/backends.ts';
import { type Collector, type Facts, type PerFarmCollector, isPerFarmCollector } from '../../collectors/collector.ts';
import { farmConfigCollector } from '../../collectors/farm-config.ts';
import { farmsCollector } from '../../collectors/farms.ts';
import { collectors } from '../../collectors/registry.ts';
import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import { createSlots } from '../../lib/slots.ts';
import type { HostResolver } from '../../lib/host-resolver.ts';
import { assert, isOneOf, toError } from '../../lib/check.ts';
import { joinFirst, oneLine } from '../../lib/text.ts';
import type { AppliancePoller } from '../../scheduler/appliance-poller.ts';
import { createCron, intervalOf } from '../../scheduler/schedule.ts';
import { applianceProblems } from '../../state/appliance-problems.ts';
import type { Problem } from '../../state/problem.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { ShownCertificate } from '../fingerprint.ts';
import { type Cost, costPerMinute, type ProbedRun } from './cost.ts';
import type { FarmProbe } from './farm-probes.ts';

interface ApplianceProbe {
  /** The reason for which the appliance cannot be polled at all; the probe ends there. */
  readonly failure: Failure | undefined;
  readonly calls: readonly CallReport[];
  readonly facts: Facts;
  readonly farms: readonly Farm[] | undefined;
  /** The judgement of the status page about the appliance; empty if it cannot be polled. */
  readonly problems: readonly Problem[];
  /** Collectors that succeeded, and were allowed to read something. */
  readonly polled: readonly string[];
  /** Optional collectors for which the appliance has no API. */
  readonly unsupported: readonly string[];
  readonly collectorFailures: readonly CollectorFailure[];
  /** Routes that the key may not read and that their collectors do not need. */
  readonly skipped: readonly string[];
  readonly perMinute: Cost;
}

export interface Failure {
  /**
   * `nothing_enabled`: no enabled collector makes calls. `unproven`: something answers, but no response
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
  /** The code of the error of the system or the library. */
  readonly code?: string;
}

interface CollectorFailure {
  readonly collector: string;
  /** Undefined for a response that has the right form and makes no sense. */
  readonly reason: FailureReason | undefined;
  readonly message: string;
}

export interface ProbeOptions {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly resolver: HostResolver;
  readonly stopped: AbortSignal;
}

/** The most configurations of farms that are read: a check must end soon. */
const maxConfigurations = 20;
/** The most farms whose backends are read because some are down. */
const maxFarmsWithBackendsDown = 10;

/**
 * Runs each enabled collector once, those that ask farm by farm for few farms, and estimates what a
 * minute of polling will cost.
 */
export async function probeAppliance(options: ProbeOptions): Promise<ApplianceProbe> {
  const { appliance, stopped } = options;
  const record: ProbeRecord = { calls: [], errors: new Map(), sampled: new Map() };
  const poller = createProbePoller(options, record);
  const close = (): void => void poller.close();
  stopped.addEventListener('abort', close, { once: true });
  const callsByCollector = new Map<Collector, readonly CallReport[]>();
  let failure: Failure | undefined;
  try {
    for (const collector of collectors) {
      // Without it, the collector has nothing to ask the appliance for.
      if (!appliance.collectors[collector.name]?.enabled || collector.makesNoCalls) continue;
      const before = record.calls.length;
      await poller.run(collector.name);
      callsByCollector.set(collector, record.calls.slice(before));
      failure = failureOf(record.errors.get(collector.name), record.calls.at(-1));
      if (failure) break;
    }
    return probeResult({ ...options, record, poller, callsByCollector, failure });
  } finally {
    stopped.removeEventListener('abort', close);
    await poller.close();
  }
}

/** What the runs of a poller showed. */
interface ProbeRecord {
  readonly calls: CallReport[];
  /** The first error of each collector, by name. */
  readonly errors: Map<string, unknown>;
  /** The farms that were read one by one, by the name of the collector. */
  readonly sampled: Map<string, Set<string>>;
}

function createProbePoller({ appliance, settings, resolver }: ProbeOptions, record: ProbeRecord): AppliancePoller {
  const [watched] = watchedAppliances(settings, [appliance]);
  assert(watched, 'one appliance is given');
  const store = createStore();
  store.arrange([appliance.name]);
  return createPoller(
    { ...watched, polling: { ...settings.polling, maxBusyRatio: 1 } },
    {
      resolver,
      store,
      cron: createCron(),
      inProbeSlot: createSlots(1),
      log: pino({ level: 'silent' }),
      now: Date.now,
      random: Math.random,
      onCall: (call) => void record.calls.push(call),
      wrap: (collector) =>
        isPerFarmCollector(collector) ? samplingFarms(collector, record) : recordingErrors(collector, record),
    },
  );
}

function recordingErrors(collector: Exclude<Collector, PerFarmCollector>, record: ProbeRecord): Collector {
  return { ...collector, collect: (context) => recordError(collector, record, collector.collect(context)) };
}

/**
 * Returns the collector for the first farm that answers, since a call for another one may take
 * long. Reads the configurations of several farms, because they name the certificates, and the
 * backends of the first farms that have some down.
 */
function samplingFarms(collector: PerFarmCollector, record: ProbeRecord): Collector {
  const maxFarms = collector.name === farmConfigCollector.name ? maxConfigurations : 1;
  const sampled = new Set<string>();
  const maxOf = (farm: Farm): number =>
    collector.name === backendsCollector.name && hasBackendsDown(farm) ? maxFarmsWithBackendsDown : maxFarms;
  record.sampled.set(collector.name, sampled);
  return {
    ...collector,
    covers(farm) {
      if (!collector.covers(farm) || farm.isSilent) return false;
      return sampled.size < maxOf(farm) ? sampled.add(farm.name).has(farm.name) : sampled.has(farm.name);
    },
    async begin(context) {
      const collectFarm = await recordError(collector, record, collector.begin(context));
      return (farm, own) => recordError(collector, record, collectFarm(farm, own));
    },
  };
}

function hasBackendsDown({ state }: Pick<Farm, 'state'>): boolean {
  return state === 'problem' || state === 'critical';
}

async function recordError<Value>({ name }: Collector, { errors }: ProbeRecord, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!errors.has(name)) errors.set(name, error);
    throw error;
  }
}

interface ProbeOutcome extends ProbeOptions {
  readonly record: ProbeRecord;
  readonly poller: AppliancePoller;
  readonly callsByCollector: ReadonlyMap<Collector, readonly CallReport[]>;
  readonly failure: Failure | undefined;
}

function probeResult({
  appliance,
  settings,
  record,
  poller,
  callsByCollector,
  failure: fatal,
}: ProbeOutcome): ApplianceProbe {
  const { state } = poller;
  const { facts } = state;
  const status = poller.status();
  const isForbidden = ({ reason }: CallReport): boolean => reason === 'forbidden';
  const polled: string[] = [];
  const unsupported: string[] = [];
  const collectorFailures: CollectorFailure[] = [];
  const skipped: string[] = [];
  const runs: ProbedRun[] = [];
  for (const [collector, calls] of callsByCollector) {
    const { isSupported, failure } = status.collectors.find(({ name }) => name === collector.name) ?? {};
    if (isSupported === false) unsupported.push(collector.name);
    else if (failure && record.errors.has(collector.name))
      collectorFailures.push(collectorFailure(collector, record.errors.get(collector.name)));
    if (!isSupported || failure || calls.length === 0) continue;
    skipped.push(...calls.filter(isForbidden).map(({ endpoint }) => endpoint));
    if (calls.every(isForbidden)) continue;
    const { schedule, maxStaleMs } = { ...collector, ...appliance.collectors[collector.name] };
    const sampled = record.sampled.get(collector.name)?.size;
    runs.push({ collector, calls, sampled, intervalMs: intervalOf(schedule), maxStaleMs });
    polled.push(collector.name);
  }
  const failure = fatal ?? unprovenFailure(record.calls, collectorFailures) ?? unreadFarmsFailure(collectorFailures);
  // The report has its own words for failures: only unreadable parts of responses are judged.
  const unreadable = status.collectors.flatMap(({ failure: _reported, ...each }) => (each.unreadable ? each : []));
  const judged = { ...status, up: true, collectors: unreadable };
  return {
    failure,
    calls: record.calls,
    facts,
    farms: state.latest(farmsCollector)?.farms,
    problems: failure ? [] : joinUnread(applianceProblems(judged, Date.now()), judged),
    polled,
    unsupported,
    collectorFailures,
    skipped,
    perMinute: costPerMinute(runs, {
      ...settings.polling,
      farms: facts.farms ?? [],
      configOf: (farm) => state.reading(farmConfigCollector, farm)?.data,
    }),
  };
}

/** Replaces the problems of farms whose backends were not read by one. */
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
      title: `Some backends of ${joinFirst([...names])} are down`,
      meaning: `The appliance says so; the check reads the backends of ${maxFarmsWithBackendsDown} farms at most.`,
      alert: 'ZlbBackendDown',
    },
  ];
}

function unreadFarmsFailure(failures: readonly CollectorFailure[]): Failure | undefined {
  const failed = failures.find(({ collector }) => collector === farmsCollector.name);
  if (!failed) return undefined;
  const { reason, message } = failed;
  return { reason: reason === 'forbidden' || reason === 'unlicensed' ? reason : 'farms_unread', message };
}

/** Returns the offset of the appliance's clock in seconds, from the last response that has a date. */
export function clockOffsetOf(calls: readonly CallReport[]): number | undefined {
  return calls.findLast(({ clockOffsetSeconds }) => clockOffsetSeconds !== undefined)?.clockOffsetSeconds;
}

/** Reasons for which the next call would fail as well. */
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
export function failureOf(
  error: unknown,
  lastCall: Pick<CallReport, 'waitsForProxies'> | undefined,
): Failure | undefined {
  if (!(error instanceof ApplianceError)) return undefined;
  const { reason, message, code, routeMissing } = error;
  // A web server's 404 page means that the API has another path.
  if (reason === 'not_found' && !routeMissing) return { reason: 'unproven', message };
  if (reason === 'timeout' && lastCall?.waitsForProxies) return undefined;
  return isOneOf(finalReasons, reason) ? { reason, message, code } : undefined;
}

function collectorFailure({ name }: Collector, error: unknown): CollectorFailure {
  const reason = error instanceof ApplianceError ? error.reason : undefined;
  return { collector: name, reason, message: oneLine(toError(error).message, 250) };
}

function unprovenFailure(calls: readonly CallReport[], [first]: readonly CollectorFailure[]): Failure | undefined {
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
  /** The L4 farms that will be probed by default. */
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

export function apiAddressOf({ url }: ApplianceSettings): Address {
  const port = Number(url.port || 443);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, text: `${url.hostname}:${port}` };
}
