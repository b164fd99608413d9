import type { Decode } from '../../appliance/decode.ts';
import type { ApplianceClient, CallReport, UnreadableField } from '../../appliance/client.ts';
import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { unlessL4 } from '../../appliance/harmless.ts';
import { applianceFacts } from '../../collectors/appliance-facts.ts';
import { type CollectContext, type Collector, type Facts, isFarmCollector } from '../../collectors/collector.ts';
import { certificates } from '../../collectors/certificates.ts';
import { farmConfig } from '../../collectors/farm-config.ts';
import { hungMs } from '../../collectors/farm-states.ts';
import { type FarmList, farms, type ListedFarm } from '../../collectors/farms.ts';
import { collectors } from '../../collectors/registry.ts';
import { type ApplianceSettings, objectivesOf, type Settings, watchesFarm } from '../../config/settings.ts';
import { connectAppliance } from '../../app/connect-appliance.ts';
import { isOneOf, toError } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { withSeverity } from '../../state/problem.ts';
import { applianceProblems, unreadableProblem } from '../../state/appliance-problems.ts';
import type { Problem } from '../../state/problem.ts';
import { describeAppliance } from '../../state/describe.ts';
import { keyOf, type Origin, type Reading } from '../../state/reading.ts';
import { intervalOf } from '../../scheduler/schedule.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { ShownCertificate } from '../fingerprint.ts';
import type { FarmProbe } from './farm-probes.ts';

/** The result of one call of each endpoint that polling reads. */
interface ProbeResult {
  /** The reason for which the appliance cannot be polled at all; the probe ends there. */
  readonly failure: Failure | undefined;
  readonly calls: readonly CallReport[];
  readonly facts: Facts;
  /** Undefined if the farms were not listed. */
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
  readonly perMinute: { readonly calls: number; readonly seconds: number };
}

export interface Failure {
  /**
   * `unproven`: something answers, but no answer shows that it is the API and accepts the key. The
   * last three: it answers, and its farms cannot be read.
   */
  readonly reason: (typeof finalReasons)[number] | 'unproven' | 'forbidden' | 'unlicensed' | 'farms_unread';
  readonly message: string;
}

/** The failure of one collector. */
interface Obstacle {
  readonly collector: string;
  /** Undefined for an answer that has the right form and makes no sense. */
  readonly reason: FailureReason | undefined;
  readonly message: string;
}

export interface ProbeParts {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly decode: Decode;
  readonly stopped: AbortSignal;
}

/**
 * Makes each enabled collector's calls once, those per farm for one farm, and adds up what a minute
 * of polling will cost.
 */
export async function probeAppliance({ appliance, settings, decode, stopped }: ProbeParts): Promise<ProbeResult> {
  const calls: CallReport[] = [];
  const client = connectAppliance({ appliance, settings, decode, onCall: (call) => void calls.push(call) });
  const objectives = objectivesOf(settings, appliance);
  const newest = new Map<string, unknown>();
  const readings = new Map<string, Reading>();
  const unreadable: UnreadableField[] = [];
  const context = contextOf({ client, appliance, newest, unreadable, signal: stopped });
  const polled: string[] = [];
  const unsupported: string[] = [];
  const obstacles: Obstacle[] = [];
  const skipped: string[] = [];
  const perMinute = { calls: 0, seconds: 0 };
  let failure: Failure | undefined;
  try {
    for (const collector of collectors) {
      const chosen = appliance.collectors[collector.name];
      // It has nothing to ask the appliance for.
      if (!chosen?.enabled || collector.makesNoCalls) continue;
      const before = calls.length;
      try {
        // Without a list of farms there is no farm to read.
        if (isFarmCollector(collector) && context.facts.farms === undefined) continue;
        const times = await tryCollector(collector, context, newest, readings);
        const made = calls.slice(before);
        const forbiddenCalls = made.filter(({ reason }) => reason === 'forbidden');
        skipped.push(...forbiddenCalls.map(({ endpoint }) => endpoint));
        if (made.length > 0 && forbiddenCalls.length === made.length) continue;
        const share = (60_000 / intervalOf(chosen.schedule)) * times;
        perMinute.calls += made.length * share;
        perMinute.seconds += secondsOf(made.filter((call) => !hasWaited(call))) * share;
        polled.push(collector.name);
      } catch (error) {
        failure = failureOf(error, calls.at(-1));
        if (failure) break;
        if (collector.optional && error instanceof ApplianceError && error.routeMissing)
          unsupported.push(collector.name);
        else obstacles.push(obstacleOf(collector, error));
      }
    }
    if (!failure) await readConfigurations(context, readings, objectives === undefined ? ['https'] : ['http', 'https']);
  } finally {
    await client.close();
  }
  failure ??= unprovenBy(calls, obstacles) ?? withoutFarms(obstacles);
  const { facts } = context;
  const problems = failure
    ? []
    : [
        ...applianceProblems(statusOf(appliance, readings, objectives), Date.now()),
        ...unreadable.map((each) => ({
          appliance: appliance.name,
          ...withSeverity(unreadableProblem(appliance.name, each)),
        })),
      ];
  return {
    failure,
    calls,
    facts,
    farms: listedIn(newest),
    problems,
    polled,
    unsupported,
    obstacles,
    skipped,
    perMinute,
  };
}

/** A check is to end soon, and reads no more configurations of farms than this. */
const maxConfigurations = 20;

/**
 * Reads which certificates HTTPS farms present, since those whose file is gone cannot start again,
 * and which farms log their requests.
 */
async function readConfigurations(
  context: CollectContext,
  readings: Map<string, Reading>,
  profiles: readonly string[],
): Promise<void> {
  const unread = (context.facts.farms ?? []).filter(
    (farm) =>
      profiles.includes(farm.profile) &&
      !farm.isSilent &&
      !readings.has(keyOf({ collector: farmConfig.name, farm: farm.name })),
  );
  if (!readings.has(certificates.name) || unread.length === 0) return;
  const collectFarm = await farmConfig.begin(context);
  for (const farm of unread.slice(0, maxConfigurations)) {
    try {
      store(readings, { collector: farmConfig.name, farm: farm.name }, await collectFarm(farm, context));
    } catch (error) {
      if (!(error instanceof ApplianceError)) throw error;
      // The status then says that its certificates are not known.
    }
  }
}

function store(readings: Map<string, Reading>, origin: Origin, data: unknown): void {
  readings.set(keyOf(origin), { ...origin, data, since: undefined });
}

/** Describes the appliance by what was read, as the poller does. */
function statusOf(
  { name, url, labels }: ApplianceSettings,
  readings: ReadonlyMap<string, Reading>,
  objectives: ApplianceStatus['objectives'],
): ApplianceStatus {
  const known = {
    up: true,
    deactivated: false,
    breaker: 'closed',
    series: 0,
    seriesLeftOut: 0,
    collectors: [],
  } as const;
  return describeAppliance({ name, url: url.origin, labels, objectives, readings, ...known });
}

/** Returns the failure of an appliance whose farms cannot be read. */
function withoutFarms(obstacles: readonly Obstacle[]): Failure | undefined {
  const obstacle = obstacles.find(({ collector }) => collector === farms.name);
  if (!obstacle) return undefined;
  const { reason, message } = obstacle;
  return { reason: reason === 'forbidden' || reason === 'unlicensed' ? reason : 'farms_unread', message };
}

function listedIn(newest: ReadonlyMap<string, unknown>): readonly ListedFarm[] | undefined {
  // Only the data of this very collector is stored under its name.
  return (newest.get(farms.name) as FarmList | undefined)?.farms;
}

/** Returns the sum of the seconds of all calls. */
export function secondsOf(calls: readonly CallReport[]): number {
  return calls.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Returns true for a call in which the appliance waited for a proxy, or would have gone on to. */
export function hasWaited({ asksProxies, code, seconds }: CallReport): boolean {
  return asksProxies === true && (code === 'timeout' || seconds * 1_000 >= hungMs);
}

/** Returns the offset of the appliance's clock in seconds, from the last answer that has a date. */
export function clockOffsetOf(calls: readonly CallReport[]): number | undefined {
  return calls.findLast(({ clockOffsetSeconds }) => clockOffsetSeconds !== undefined)?.clockOffsetSeconds;
}

/** Runs a collector once; resolves to how many times a polling run repeats these calls. */
async function tryCollector(
  collector: Collector,
  context: CollectContext,
  newest: Map<string, unknown>,
  readings: Map<string, Reading>,
): Promise<number> {
  const { name } = collector;
  if (!isFarmCollector(collector)) {
    const data = await collector.collect(context);
    newest.set(name, data);
    store(readings, { collector: name }, data);
    return 1;
  }
  const covered = (context.facts.farms ?? []).filter((farm) => collector.covers(farm));
  const first = covered.find(({ isSilent }) => !isSilent) ?? covered[0];
  if (first) {
    const data = await (await collector.begin(context))(first, context);
    store(readings, { collector: name, farm: first.name }, data);
  }
  return covered.length;
}

/** Adds values that cannot be read to `unreadable`. */
function contextOf({
  client,
  appliance,
  newest,
  unreadable,
  signal,
}: {
  readonly client: ApplianceClient;
  readonly appliance: ApplianceSettings;
  readonly newest: ReadonlyMap<string, unknown>;
  readonly unreadable: UnreadableField[];
  readonly signal: AbortSignal;
}): CollectContext {
  const onUnreadable = (found: readonly UnreadableField[]): void => void unreadable.push(...found);
  return {
    async read(key, params, { limitMs, took } = {}) {
      const startedAtMs = steadyNow();
      const reply = await client.read(key, params, signal, { limitMs, onUnreadable });
      took?.(steadyNow() - startedAtMs);
      return reply;
    },
    // It runs once, and no run is to be cut short.
    intervalMs: Number.POSITIVE_INFINITY,
    get facts() {
      return applianceFacts(newest);
    },
    // The list was read a moment ago.
    unlessL4: ({ name, profile }) => Promise.resolve(unlessL4(name, profile)),
    askL4Daemon: () => Promise.resolve(undefined),
    newest: () => undefined,
    signal,
    vip: appliance.vip,
    watches: (farm) => watchesFarm(appliance, farm),
    now: Date.now,
    age: steadyNow,
    labels: appliance.labels,
  };
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
  return { reason: 'unproven', message: first?.message ?? 'no collector is enabled, so nothing was read' };
}

/** Everything that the report about one appliance needs. */
export interface ApplianceCheck {
  readonly appliance: ApplianceSettings;
  readonly address: Address;
  readonly settings: Settings;
  readonly probe: ProbeResult;
  /** Farms that the collector `vip` will probe; undefined if it is off or no farm is known. */
  readonly farmProbes: readonly FarmProbe[] | undefined;
  /** Undefined when the server showed no certificate. */
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
