// Reads the states of farms with a call for each, so that a proxy that hangs costs its own farm only:
// `askEachFarm` instead of a list of all, `askMaybeSilent` after a list that came late. What a run needs
// to know of the ones before is in the reading, in `lastAsk` of each farm.
//
// A farm is silent while its proxy does not answer the appliance. A call for it takes 20 s, and on some
// releases never ends, which leaves a process on the appliance (docs/api.md §1.6). So silent farms are
// asked for rarely, and one in a run: `nextSilent` decides which.

import { ApplianceError, type FailureReason, isUnanswered } from '../appliance/errors.ts';
import { type Farm, hasProxy } from '../appliance/farm.ts';
import { profilesIn } from '../appliance/safe-farm-name.ts';
import { stateWord } from '../lib/states.ts';
import type { CollectContext } from './collector.ts';

/** A farm of the list, with what the next run needs to know. */
export interface AskedFarm extends Farm {
  /** Absent for a farm that was not asked for alone. */
  readonly lastAsk?: LastAsk | undefined;
}

/** When a farm was last asked for alone. */
interface LastAsk {
  readonly atElapsedMs: number;
  /** When a call last had the time to wait until the appliance gives up. */
  readonly fullWaitAtElapsedMs?: number | undefined;
  /** A silent farm's calls in a row that our limit ended; 0 once the appliance gave up. */
  readonly timeouts?: number;
}

/** The farms of the run before, by name, whose states are kept until a farm is asked for again. */
type KnownFarms = ReadonlyMap<string, AskedFarm>;

interface Limits {
  /** How long a call takes that waits for no proxy. */
  readonly callMs: number;
  readonly limitMs: number;
  readonly workMs: number;
  /** True where the appliance is known to give up its wait for a proxy. */
  readonly givesUp?: boolean;
}

/** The appliance waits 20 s for a proxy that hangs, and answers then. */
const fullWaitLimitMs = 30_000;
/** The least time limit for a proxy that does not hang. */
const minStateLimitMs = 3_000;
/** A call that takes longer has waited for a proxy, unless all calls take long. */
export const waitedForProxyMs = 15_000;
/** The work of a call; beyond it the appliance only waits. */
const workMs = 1_000;
/** A state is asked for again after this time: with every second run of the schedule. */
const recentMs = 40_000;
/**
 * An older state is not known any more. With the time until the end of the next run that is twice
 * the usual `max_stale`, as for late runs.
 */
const keptMs = 300_000;
/** The part of an interval for which a run asks, so that what it found is shown soon. */
const askingShareOfInterval = 0.9;
/** The same for the first run, which finds the farm that hangs, without pauses between calls. */
const firstRunMs = 45_000;

/** The time between two calls for silent farms, where such a call ends. */
const silentEveryMs = 90_000;
/** The time after a call for a silent farm that our limit ended; each further one doubles it. */
const afterTimeoutMs = 120_000;
const longestAfterTimeoutMs = 3_600_000;
/** The time between two calls with a full wait, for each silent farm: meanwhile nothing else is read. */
const fullWaitEveryMs = 1_800_000;
const neverMs = Number.NEGATIVE_INFINITY;

/**
 * Reads the state of each farm. A silent farm that has recovered comes first. Then come the others,
 * those that waited longest first, as far as the time of a run allows, and last a silent farm that
 * is due. A farm that is not asked keeps its last state. `callMs` is how long a call takes that
 * waits for no proxy, and `listedAtElapsedMs` when a list with all states was last read.
 */
export async function askEachFarm(
  context: CollectContext,
  listed: readonly Farm[],
  {
    known,
    listedAtElapsedMs,
    callMs,
  }: { readonly known: KnownFarms; readonly listedAtElapsedMs: number | undefined; readonly callMs: number },
): Promise<readonly AskedFarm[]> {
  const startElapsedMs = context.elapsedNow();
  const before = [...known.values()];
  const isFirst = !before.some(({ lastAsk }) => lastAsk);
  const endElapsedMs = startElapsedMs + (isFirst ? firstRunMs : askingShareOfInterval * context.intervalMs);
  const limits = { ...farmCallLimits(callMs), givesUp: givesUpWaiting(before) };

  const silent = nextSilent(context, listed, known);
  const silentLimits = silent?.isFullWait ? { ...limits, limitMs: fullWaitLimitMs } : limits;
  const silentFarms = silent ? [silent.farm] : [];
  const others = dueOf(listed, known, startElapsedMs);
  const othersLimits = isFirst ? { ...limits, workMs: 0 } : limits;

  const ask = (farms: readonly Farm[], each: Limits, untilElapsedMs?: number) =>
    askInTurn(context, farms, { ...each, known, untilElapsedMs });
  const first = silent?.hasRecovered ? await ask(silentFarms, silentLimits) : [];
  const second = await ask(others, othersLimits, endElapsedMs);
  const last = silent?.hasRecovered ? [] : await ask(silentFarms, silentLimits);
  const endedAtElapsedMs = context.elapsedNow();
  return withAsked(listed, [...first, ...second, ...last], (farm) =>
    asBefore(farm, known.get(farm.name), listedAtElapsedMs, endedAtElapsedMs),
  );
}

/**
 * Finds the silent farms of a list that came late, because it waited for `waitedFor` proxies. Their
 * state does not tell: it is that of a farm without backends. Asks for farms that were not silent
 * before only if the others do not explain the wait.
 */
export async function askMaybeSilent(
  context: CollectContext,
  listed: readonly Farm[],
  { known, waitedFor }: { readonly known: KnownFarms; readonly waitedFor: number },
): Promise<readonly AskedFarm[]> {
  const maybeSilent = listed.filter((farm) => hasProxy(farm.profile) && maybeSilentStates.includes(farm.state));
  const silent = maybeSilent.filter(({ name }) => known.get(name)?.isSilent);
  const others = maybeSilent.filter((farm) => !silent.includes(farm));
  const next = nextSilent(context, silent, known)?.farm;
  const asSilent = (farm: Farm): AskedFarm => {
    return { ...farm, isSilent: true, lastAsk: known.get(farm.name)?.lastAsk };
  };
  const notAsked = (farm: Farm): AskedFarm => (silent.includes(farm) ? asSilent(farm) : farm);
  const due = [...(silent.length < waitedFor ? others : []), ...(next ? [next] : [])];
  if (due.length === 0) return listed.map(notAsked);
  const limits = farmCallLimits(await measureCallMs(context));
  const untilElapsedMs = context.elapsedNow() + firstRunMs;
  // The appliance has just given up its wait for them, and answered.
  const asked = await askInTurn(context, due.map(asSilent), { ...limits, givesUp: true, known, untilElapsedMs });
  return withAsked(listed, asked, notAsked);
}

/** The states that the appliance has for a farm whose proxy does not answer it. */
const maybeSilentStates: readonly string[] = ['critical', 'needed_restart'];

/** A farm that was asked for, by name; undefined if it is gone. */
type Asked = readonly [name: string, farm: AskedFarm | undefined];

/** Asks for one farm after another, until a moment if it is named. */
async function askInTurn(
  context: CollectContext,
  farms: readonly Farm[],
  {
    known,
    untilElapsedMs = Number.POSITIVE_INFINITY,
    ...limits
  }: Limits & { readonly known: KnownFarms; readonly untilElapsedMs?: number | undefined },
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const farm of farms) {
    if (context.elapsedNow() >= untilElapsedMs) break;
    asked.push([farm.name, await askState(context, farm, known.get(farm.name), limits)]);
  }
  return asked;
}

/** Returns a list without the farms that are gone; `notAsked` gives those that were not asked for. */
function withAsked(
  listed: readonly Farm[],
  all: readonly Asked[],
  notAsked: (farm: Farm) => AskedFarm,
): readonly AskedFarm[] {
  const asked = new Map(all);
  return listed.flatMap((farm) => (asked.has(farm.name) ? (asked.get(farm.name) ?? []) : notAsked(farm)));
}

/** Returns how long a call takes that waits for no proxy. */
async function measureCallMs({ read }: CollectContext): Promise<number> {
  let callMs = 0;
  await read('readFarmsSummary', {}, { onDuration: (ms) => (callMs = ms) });
  return callMs;
}

/** Returns the limits of a call for a farm that does not hang. */
function farmCallLimits(callMs: number): Limits {
  return { callMs, limitMs: Math.min(Math.max(4 * callMs, minStateLimitMs), fullWaitLimitMs), workMs };
}

/** Returns the farms to ask for, without silent ones: by their wait, those with a proxy first. */
function dueOf(listed: readonly Farm[], known: KnownFarms, nowElapsedMs: number): readonly Farm[] {
  const lastElapsedMs = ({ name }: Farm): number => askedAtElapsedMs(known.get(name));
  const rankOf = ({ profile }: Farm): number => (hasProxy(profile) ? 0 : 1);
  return listed
    .filter((farm) => !known.get(farm.name)?.isSilent && nowElapsedMs - lastElapsedMs(farm) >= recentMs)
    .toSorted((one, other) => compareMoments(lastElapsedMs(one), lastElapsedMs(other)) || rankOf(one) - rankOf(other));
}

async function askState(
  context: CollectContext,
  farm: Farm,
  was: AskedFarm | undefined,
  { callMs, limitMs, workMs: maxWorkMs, givesUp = false }: Limits,
): Promise<AskedFarm | undefined> {
  const { read, elapsedNow } = context;
  const isFullWait = limitMs === fullWaitLimitMs;
  const atElapsedMs = elapsedNow();
  const lastAsk: LastAsk = {
    atElapsedMs,
    fullWaitAtElapsedMs: isFullWait ? atElapsedMs : was?.lastAsk?.fullWaitAtElapsedMs,
  };
  let tookMs = 0;
  const onDuration = (ms: number): void => void (tookMs = ms);
  const ask = () => read('readFarmStatus', { farmname: farm.name }, { limitMs, workMs: maxWorkMs, onDuration });
  const answeredBefore = was !== undefined && !was.isSilent && was.state !== 'unknown';
  try {
    const { params } = await ask().catch((error: unknown) => {
      // One late response is not proof that a proxy hangs.
      if (answeredBefore && error instanceof ApplianceError && error.reason === 'timeout') return ask();
      throw error;
    });
    const isSilent = tookMs >= Math.max(waitedForProxyMs, 2 * callMs);
    const found = { ...farm, state: stateWord(params.status), isSilent };
    if (isSilent) return { ...found, lastAsk: { ...lastAsk, timeouts: 0 } };
    return { ...found, lastAsk, ...(await readAddress(context, farm, limitMs)) };
  } catch (error) {
    if (!(error instanceof ApplianceError) || applianceFailures.includes(error.reason)) throw error;
    const isRefused = error.reason === 'not_found' || error.reason === 'bad_request';
    // A release without this call refuses it for each farm, and none of them is gone.
    if (isRefused && profilesIn(await read('readFarmsSummary', {}))?.has(farm.name) === false) return undefined;
    const hasNoAnswer = isUnanswered(error.reason);
    // An appliance that answers nothing else has not lost its proxies alone.
    if (hasNoAnswer) await read('readFarmsSummary', {});
    if (!hasNoAnswer || !hasProxy(farm.profile)) return { ...farm, state: 'unknown', isSilent: false, lastAsk };
    const before = was?.isSilent ? (was.lastAsk?.timeouts ?? 0) : 0;
    const timeouts = givesUp && !isFullWait ? 0 : before + 1;
    return { ...farm, state: was?.isSilent ? was.state : 'unknown', isSilent: true, lastAsk: { ...lastAsk, timeouts } };
  }
}

/** Failures that say nothing of one farm. */
const applianceFailures: readonly FailureReason[] = ['connect', 'tls', 'cancelled', 'unauthorized', 'unlicensed'];

/** Reads profile and address of an HTTP farm that was never listed with them. */
async function readAddress(
  { read, safeFarmName }: CollectContext,
  farm: Farm,
  limitMs: number,
): Promise<Partial<Farm>> {
  if (farm.vip !== undefined || farm.profile !== 'http') return {};
  try {
    const farmname = await safeFarmName(farm);
    if (!farmname) return {};
    const { listener, vip, vport } = (await read('readFarm', { farmname }, { limitMs })).params;
    return { profile: listener || farm.profile, vip: vip || undefined, vport: vport || undefined };
  } catch (error) {
    if (!(error instanceof ApplianceError) || applianceFailures.includes(error.reason)) throw error;
    return {};
  }
}

/** Returns a farm that was not asked for, as it was before; without its state if that is too old. */
function asBefore(
  farm: Farm,
  was: AskedFarm | undefined,
  listedAtElapsedMs: number | undefined,
  nowElapsedMs: number,
): AskedFarm {
  if (!was) return farm;
  // A state of a list of all is as old as that list, however many runs leave it out.
  const lastAsk = was.lastAsk ?? { atElapsedMs: listedAtElapsedMs ?? Number.NEGATIVE_INFINITY };
  const state = nowElapsedMs - lastAsk.atElapsedMs < keptMs || was.isSilent ? was.state : 'unknown';
  return { ...farm, state, isSilent: was.isSilent ?? false, lastAsk };
}

/**
 * Returns the silent farm to ask for in this run, if any: one that has recovered, or, of those
 * that are due, the one that waited longest. A call with a full wait lasts until the appliance gives up.
 */
function nextSilent(context: CollectContext, listed: readonly Farm[], known: KnownFarms) {
  const nowElapsedMs = context.elapsedNow();
  const silent = listed
    .filter(({ name }) => known.get(name)?.isSilent)
    .map((farm) => ({ farm, was: known.get(farm.name), lastElapsedMs: askedAtElapsedMs(known.get(farm.name)) }))
    .toSorted((one, other) => compareMoments(one.lastElapsedMs, other.lastElapsedMs));
  const recovered = silent.find(({ was }) => hasRecovered(context, was));
  const isRested = nowElapsedMs - Math.max(neverMs, ...silent.map((each) => each.lastElapsedMs)) >= silentEveryMs;
  const due = silent.find(({ was, lastElapsedMs }) => isRested && nowElapsedMs - lastElapsedMs >= pauseMs(was));
  const next = recovered ?? due;
  const fullWaitAtElapsedMs = next?.was?.lastAsk?.fullWaitAtElapsedMs ?? neverMs;
  const isFullWait = nowElapsedMs - fullWaitAtElapsedMs > silent.length * fullWaitEveryMs;
  return next && { farm: next.farm, isFullWait, hasRecovered: recovered !== undefined };
}

/** Returns true for a silent farm that answers clients, or was changed, since it was asked. */
export function hasRecovered(
  { facts, changedAtElapsedMs }: Pick<CollectContext, 'facts' | 'changedAtElapsedMs'>,
  farm: AskedFarm | undefined,
): boolean {
  if (!farm?.isSilent) return false;
  const news = [facts.answersSinceElapsedMs?.get(farm.name), changedAtElapsedMs(farm.name)];
  return news.some((atElapsedMs) => (atElapsedMs ?? neverMs) > askedAtElapsedMs(farm));
}

function pauseMs(farm: Pick<AskedFarm, 'lastAsk'> | undefined): number {
  const timeouts = farm?.lastAsk?.timeouts ?? 0;
  return timeouts === 0 ? silentEveryMs : Math.min(afterTimeoutMs * 2 ** (timeouts - 1), longestAfterTimeoutMs);
}

/** Returns when a silent farm is asked for again; undefined for one whose calls end: that is soon. */
export function nextAskElapsedMs({ isSilent, lastAsk }: AskedFarm): number | undefined {
  return isSilent && lastAsk?.timeouts ? lastAsk.atElapsedMs + pauseMs({ lastAsk }) : undefined;
}

/** Returns true if the appliance is known to give up its wait for a proxy: it did so for one of these. */
export function givesUpWaiting(farms: readonly AskedFarm[]): boolean {
  return farms.some(({ isSilent, lastAsk }) => isSilent === true && lastAsk?.timeouts === 0);
}

function askedAtElapsedMs(farm: AskedFarm | undefined): number {
  return farm?.lastAsk?.atElapsedMs ?? neverMs;
}

/** Compares two moments; both may be never. */
function compareMoments(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
