import type { ApplianceClient, CallReport } from '../../appliance/client.ts';
import type { Decode } from '../../appliance/decode.ts';
import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { applianceFacts, type Latest } from '../../collectors/appliance-facts.ts';
import {
  type ApplianceCollector,
  type CollectContext,
  type Collector,
  type Facts,
  isFarmCollector,
} from '../../collectors/collector.ts';
import { collectors } from '../../collectors/registry.ts';
import { watchesFarm } from '../../config/farm-filter.ts';
import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import { connectAppliance } from '../../connect-appliance.ts';
import { isOneOf, toError } from '../../lib/check.ts';
import { oneLine } from '../../lib/one-line.ts';
import { intervalOf } from '../../monitor/clockwork.ts';

/** What a visit to an appliance found out. */
export interface Findings {
  /** Why it cannot be polled at all; nothing more was asked then. */
  readonly failure: Failure | undefined;
  readonly calls: readonly CallReport[];
  readonly facts: Facts;
  /** Collectors that ended well. */
  readonly polled: readonly string[];
  /** Collectors that the edition has no API for, and that do without. */
  readonly lacking: readonly string[];
  readonly obstacles: readonly Obstacle[];
  /** Routes that the key may not read, and that their collectors do without. */
  readonly spared: readonly string[];
  /** What a minute of polling will cost. */
  readonly perMinute: { readonly calls: number; readonly seconds: number };
}

export interface Failure {
  /** `unproven`: something answers, but nothing that it says shows that it is the API and takes the key. */
  readonly reason: (typeof endings)[number] | 'unproven';
  readonly message: string;
}

/** Why a collector knows nothing. */
export interface Obstacle {
  readonly collector: string;
  /** Undefined for an answer that was understood and makes no sense. */
  readonly reason: FailureReason | undefined;
  readonly message: string;
}

export interface VisitParts {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly decode: Decode;
  readonly stopped: AbortSignal;
}

/** Makes each enabled collector's calls once, those per farm for one farm, and adds up what a minute of polling will cost. */
export async function visitAppliance({ appliance, settings, decode, stopped }: VisitParts): Promise<Findings> {
  const calls: CallReport[] = [];
  const client = connectAppliance({
    appliance,
    settings,
    decode,
    now: Date.now,
    onCall: (call) => void calls.push(call),
  });
  const newest = new Map<string, unknown>();
  const context = contextOf(client, appliance, newest, stopped);
  const polled: string[] = [];
  const lacking: string[] = [];
  const obstacles: Obstacle[] = [];
  const spared: string[] = [];
  const perMinute = { calls: 0, seconds: 0 };
  let failure: Failure | undefined;
  try {
    for (const collector of collectors) {
      const chosen = appliance.collectors[collector.name];
      if (!chosen?.enabled) continue;
      const before = calls.length;
      try {
        // Farms that nobody could list are asked nothing.
        if (isFarmCollector(collector) && context.facts.farms === undefined) continue;
        const times = await tryCollector(collector, context, newest);
        const made = calls.slice(before);
        const share = (60_000 / intervalOf(chosen.schedule)) * times;
        perMinute.calls += made.length * share;
        perMinute.seconds += secondsOf(made) * share;
        polled.push(collector.name);
        spared.push(...made.filter(({ reason }) => reason === 'forbidden').map(({ endpoint }) => endpoint));
      } catch (error) {
        failure = failureOf(error);
        if (failure) break;
        if (collector.optional && error instanceof ApplianceError && error.routeMissing) lacking.push(collector.name);
        else obstacles.push(obstacleOf(collector, error));
      }
    }
  } finally {
    await client.close();
  }
  failure ??= unprovenBy(calls, obstacles);
  return { failure, calls, facts: context.facts, polled, lacking, obstacles, spared, perMinute };
}

/** Of all calls together. */
export function secondsOf(calls: readonly CallReport[]): number {
  return calls.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** The clock of the appliance against ours in seconds, as far as any answer tells; the last one knows best. */
export function clockOffsetOf(calls: readonly CallReport[]): number | undefined {
  return calls.findLast(({ clockOffsetSeconds }) => clockOffsetSeconds !== undefined)?.clockOffsetSeconds;
}

/** Resolves to how many times a run repeats what was just asked. */
async function tryCollector(
  collector: Collector,
  context: CollectContext,
  newest: Map<string, unknown>,
): Promise<number> {
  if (!isFarmCollector(collector)) {
    newest.set(collector.name, await collector.collect(context));
    return 1;
  }
  const farms = (context.facts.farms ?? []).filter((farm) => collector.covers(farm));
  const [first] = farms;
  if (first) await (await collector.begin(context))(first, context);
  return farms.length;
}

function contextOf(
  client: ApplianceClient,
  appliance: ApplianceSettings,
  newest: ReadonlyMap<string, unknown>,
  signal: AbortSignal,
): CollectContext {
  // Only the data of this very collector is stored under its name.
  const latest: Latest = <Data>({ name }: ApplianceCollector<Data>) => newest.get(name) as Data | undefined;
  return {
    read: (key, params) => client.read(key, params, signal),
    get facts() {
      return applianceFacts(latest);
    },
    watches: (farm) => watchesFarm(appliance, farm),
    now: Date.now,
    labels: appliance.labels,
  };
}

/** What the next call would only meet again. */
const endings = ['connect', 'timeout', 'tls', 'cancelled', 'unauthorized'] as const satisfies readonly FailureReason[];

/** Why no other call is made. */
function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof ApplianceError)) return undefined;
  const { reason, message, routeMissing } = error;
  // A page of a web server means that the API is elsewhere.
  if (reason === 'not_found' && !routeMissing) return { reason: 'unproven', message };
  return isOneOf(endings, reason) ? { reason, message } : undefined;
}

function obstacleOf({ name }: Collector, error: unknown): Obstacle {
  const reason = error instanceof ApplianceError ? error.reason : undefined;
  return { collector: name, reason, message: oneLine(toError(error).message, 250) };
}

function unprovenBy(calls: readonly CallReport[], [first]: readonly Obstacle[]): Failure | undefined {
  if (calls.some(({ authenticated }) => authenticated)) return undefined;
  return { reason: 'unproven', message: first?.message ?? 'no collector is enabled, so that nothing was asked' };
}
