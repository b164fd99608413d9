import { type Farm, stateWord } from '../appliance/farm.ts';
import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import type { CollectContext } from './collector.ts';

/** When a farm was last asked for alone. */
export interface AskedFarm {
  readonly atElapsedMs: number;
  /** When the appliance was last given the time to wait for its proxy until it gives up. */
  readonly awaitedAtElapsedMs?: number | undefined;
  /**
   * How many of its calls in a row ended by our limit since it is silent; 0 once the appliance gave
   * up and answered.
   * Where it never gives up, each look leaves a process there (docs/api.md §1.6).
   */
  readonly timeouts?: number;
}

/** A farm of the list, and when it was asked for alone. */
export interface ListedFarm extends Farm {
  readonly asked?: AskedFarm | undefined;
}

/** The list before: states from it serve until a farm is asked for again. */
interface ListBefore {
  readonly farms: readonly ListedFarm[];
  readonly startedAtElapsedMs?: number;
}

/** The appliance waits 20 s for a proxy that hangs, and then has a word for it. */
const hungTimeoutMs = 30_000;
/** The least time limit for a proxy that does not hang. */
const quickTimeoutMs = 3_000;
/** A call that takes longer has waited for a proxy, unless all calls take long. */
export const hungMs = 15_000;
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
const maxShareOfInterval = 0.9;
/** The same for the first run, which finds the farm that hangs, without pauses between calls. */
const firstRunMs = 45_000;
/** The time between two calls for farms that are silent, where such a call ends. */
const silentEveryMs = 90_000;
/** The time after a call for a silent farm that did not end; doubled by each further one. */
const afterTimeoutMs = 120_000;
const longestAfterTimeoutMs = 3_600_000;
/** The time between two patient calls, for each silent farm: meanwhile nothing else is read. */
const patienceEveryMs = 1_800_000;
const neverMs = Number.NEGATIVE_INFINITY;

/**
 * Reads the state of each farm with a call of its own, so that a proxy that hangs costs its own
 * farm only. `callMs` is how long a call takes that asks no proxy. The farms that have waited
 * longest are asked first, as many as the time of a run allows; silent ones after all others, one a
 * run. A farm that is not asked keeps the last word of the appliance.
 */
export async function askEachFarm(
  context: CollectContext,
  listed: readonly ListedFarm[],
  { before, callMs }: { readonly before: ListBefore | undefined; readonly callMs: number },
): Promise<readonly ListedFarm[]> {
  const startedAtElapsedMs = context.elapsedNow();
  const known = byName(before);
  const isFirst = !before?.farms.some(({ asked }) => asked);
  const endElapsedMs = startedAtElapsedMs + (isFirst ? firstRunMs : maxShareOfInterval * context.intervalMs);
  const usual = { ...limitsOf(callMs), workMs: isFirst ? 0 : workMs, callsEnd: doCallsEnd(before?.farms ?? []) };

  const next = nextSilent(context, listed, known);
  const askNext = async (): Promise<readonly (readonly [string, ListedFarm | undefined])[]> => {
    if (!next) return [];
    const { farm, isPatient } = next;
    const limits = isPatient ? { limitMs: hungTimeoutMs } : {};
    return [[farm.name, await askState(context, farm, known.get(farm.name), { ...usual, workMs, ...limits })]];
  };
  const first = next?.hasRecovered ? await askNext() : [];
  const others = await askUntil(context, dueOf(listed, known, startedAtElapsedMs), {
    ...usual,
    known,
    endMs: endElapsedMs,
  });
  const last = next?.hasRecovered ? [] : await askNext();
  const endedAtElapsedMs = context.elapsedNow();
  return withAsked(listed, new Map([...first, ...others, ...last]), (farm) =>
    asBefore(farm, known.get(farm.name), before, endedAtElapsedMs),
  );
}

/**
 * Finds out which farms of a list that waited for `hanging` proxies are silent: the appliance has
 * no better word for such a farm than for one without backends. Asks one by one unless those that
 * were silent before explain the wait.
 */
export async function askSuspects(
  context: CollectContext,
  listed: readonly ListedFarm[],
  { before, hanging }: { readonly before: ListBefore | undefined; readonly hanging: number },
): Promise<readonly ListedFarm[]> {
  const known = byName(before);
  const suspects = listed.filter((farm) => hasProxy(farm) && suspectStates.includes(farm.state));
  const silent = suspects.filter(({ name }) => known.get(name)?.isSilent);
  const others = suspects.filter(({ name }) => !known.get(name)?.isSilent);
  const next = nextSilent(context, silent, known)?.farm;
  const asSilent = (farm: ListedFarm): ListedFarm => ({ ...farm, isSilent: true, asked: known.get(farm.name)?.asked });
  const otherwise = (farm: ListedFarm): ListedFarm => (silent.includes(farm) ? asSilent(farm) : farm);
  const due = [...(silent.length < hanging ? others : []), ...(next ? [next] : [])];
  if (due.length === 0) return listed.map(otherwise);
  const limits = limitsOf(await emptyCallMs(context));
  const endElapsedMs = context.elapsedNow() + firstRunMs;
  // The appliance has just given up its wait for them, and answered.
  const asked = await askUntil(context, due.map(asSilent), { ...limits, known, endMs: endElapsedMs, callsEnd: true });
  return withAsked(listed, asked, otherwise);
}

export function byName(list: { readonly farms: readonly ListedFarm[] } | undefined) {
  return new Map(list?.farms.map((farm) => [farm.name, farm]));
}

/** Asks for one farm after another, until a moment on the elapsed clock. */
async function askUntil(
  context: CollectContext,
  due: readonly ListedFarm[],
  {
    known,
    endMs: endElapsedMs,
    ...limits
  }: Limits & { readonly known: ReadonlyMap<string, ListedFarm>; readonly endMs: number },
): Promise<Map<string, ListedFarm | undefined>> {
  const asked = new Map<string, ListedFarm | undefined>();
  for (const farm of due) {
    if (context.elapsedNow() >= endElapsedMs) break;
    asked.set(farm.name, await askState(context, farm, known.get(farm.name), limits));
  }
  return asked;
}

/** Returns a list without the farms that are gone; `otherwise` gives those that were not asked. */
function withAsked(
  listed: readonly ListedFarm[],
  asked: ReadonlyMap<string, ListedFarm | undefined>,
  otherwise: (farm: ListedFarm) => ListedFarm,
): readonly ListedFarm[] {
  return listed.flatMap((farm) => (asked.has(farm.name) ? (asked.get(farm.name) ?? []) : otherwise(farm)));
}

/** The words of the appliance for a farm whose proxy does not answer it. */
const suspectStates: readonly string[] = ['critical', 'needed_restart'];

/** Returns how long a call takes that asks no proxy. */
async function emptyCallMs({ read }: CollectContext): Promise<number> {
  let callMs = 0;
  await read('readFarmsSummary', {}, { onDuration: (ms) => (callMs = ms) });
  return callMs;
}

/** Returns the limits of a call for the state of a farm that does not hang. */
function farmCallLimits(callMs: number): Limits {
  return { callMs, limitMs: Math.min(Math.max(4 * callMs, quickTimeoutMs), hungTimeoutMs), workMs };
}

/** Returns true for a farm whose state the appliance asks a proxy for. */
export function hasProxy({ profile }: Farm): boolean {
  return ['http', 'https', 'eproxy'].includes(profile);
}

/** Returns the farms to ask for, without silent ones: by their wait, those with a proxy first. */
function dueOf(
  listed: readonly ListedFarm[],
  known: ReadonlyMap<string, ListedFarm>,
  nowElapsedMs: number,
): readonly ListedFarm[] {
  const lastAskedElapsedMs = ({ name }: ListedFarm): number => askedAtElapsedMs(known.get(name));
  return listed
    .filter((farm) => !known.get(farm.name)?.isSilent && nowElapsedMs - lastAskedElapsedMs(farm) >= recentMs)
    .toSorted(
      (one, other) =>
        compare(lastAskedElapsedMs(one), lastAskedElapsedMs(other)) || Number(hasProxy(other)) - Number(hasProxy(one)),
    );
}

/**
 * Returns the silent farm whose turn it is, if any: at once one with news, else the one that waited
 * longest of those that are due.
 */
function nextSilent(context: CollectContext, listed: readonly ListedFarm[], known: ReadonlyMap<string, ListedFarm>) {
  const nowElapsedMs = context.elapsedNow();
  const lastAskedElapsedMs = ({ name }: ListedFarm): number => askedAtElapsedMs(known.get(name));
  const silent = listed
    .filter(({ name }) => known.get(name)?.isSilent)
    .toSorted((one, other) => compare(lastAskedElapsedMs(one), lastAskedElapsedMs(other)));
  const recovered = silent.find(({ name }) => answersAgain(context, known.get(name)));
  const isRested = nowElapsedMs - Math.max(neverMs, ...silent.map(lastAskedElapsedMs)) >= silentEveryMs;
  const isDue = (farm: ListedFarm): boolean =>
    isRested && nowElapsedMs - lastAskedElapsedMs(farm) >= pauseMs(known.get(farm.name));
  const farm = recovered ?? silent.find(isDue);
  const awaitedAtElapsedMs = farm && (known.get(farm.name)?.asked?.awaitedAtElapsedMs ?? neverMs);
  const isPatient = nowElapsedMs - (awaitedAtElapsedMs ?? neverMs) > silent.length * patienceEveryMs;
  return farm && { farm, isPatient, hasRecovered: recovered !== undefined };
}

/** Returns true for a silent farm that answers clients, or was changed, since it was asked. */
export function answersAgain(
  { facts, changedAtElapsedMs }: Pick<CollectContext, 'facts' | 'changedAtElapsedMs'>,
  farm: ListedFarm | undefined,
): boolean {
  if (!farm?.isSilent) return false;
  const { name } = farm;
  return [facts.answersSinceElapsedMs?.get(name), changedAtElapsedMs(name)].some(
    (atElapsedMs) => (atElapsedMs ?? neverMs) > askedAtElapsedMs(farm),
  );
}

/** Returns the time between two calls for a farm that is silent. */
function pauseMs(farm: Pick<ListedFarm, 'asked'> | undefined): number {
  const timeouts = farm?.asked?.timeouts ?? 0;
  return timeouts === 0 ? silentEveryMs : Math.min(afterTimeoutMs * 2 ** (timeouts - 1), longestAfterTimeoutMs);
}

/**
 * Returns when a silent farm is asked again, if none of its calls has ended:
 * each may have left a process on the appliance. Undefined for other farms.
 */
export function nextAskElapsedMs({ isSilent, asked }: ListedFarm): number | undefined {
  if (!isSilent || !asked?.timeouts) return undefined;
  return asked.atElapsedMs + pauseMs({ asked });
}

/** Returns true if the appliance is known to give up its wait for a proxy, by one that is silent. */
export function doCallsEnd(farms: readonly ListedFarm[]): boolean {
  return farms.some(({ isSilent, asked }) => isSilent === true && asked?.timeouts === 0);
}

interface Limits {
  readonly callMs: number;
  readonly limitMs: number;
  readonly workMs: number;
  /** True where the appliance is known to give up its wait for a proxy. */
  readonly callsEnd?: boolean;
}

/** Returns the farm with its state; undefined if it is gone. */
async function askState(
  context: CollectContext,
  farm: ListedFarm,
  was: ListedFarm | undefined,
  { callMs, limitMs, workMs: countedMs, callsEnd = false }: Limits,
): Promise<ListedFarm | undefined> {
  const { read, elapsedNow } = context;
  const isPatient = limitMs === hungTimeoutMs;
  const asked: AskedFarm = {
    atElapsedMs: elapsedNow(),
    awaitedAtElapsedMs: isPatient ? elapsedNow() : was?.asked?.awaitedAtElapsedMs,
  };
  let tookMs = 0;
  const onDuration = (ms: number): void => {
    tookMs = ms;
  };
  const ask = () => read('readFarmStatus', { farmname: farm.name }, { limitMs, workMs: countedMs, onDuration });
  const answeredBefore = was !== undefined && !was.isSilent && was.state !== 'unknown';
  try {
    const { params } = await ask().catch((error: unknown) => {
      // One late response is not proof that a proxy hangs.
      if (answeredBefore && error instanceof ApplianceError && error.reason === 'timeout') return ask();
      throw error;
    });
    const isSilent = tookMs >= Math.max(hungMs, 2 * callMs);
    const found = {
      ...farm,
      state: stateWord(params.status),
      isSilent,
      asked: { ...asked, ...(isSilent && { timeouts: 0 }) },
    };
    return isSilent ? found : { ...found, ...(await readAddress(context, farm, limitMs)) };
  } catch (error) {
    if (!(error instanceof ApplianceError) || applianceFailures.includes(error.reason)) throw error;
    if (error.reason === 'not_found' || error.reason === 'bad_request') return undefined;
    const isUnanswered = error.reason === 'timeout' || error.reason === 'gateway_timeout';
    const isSilent = isUnanswered && hasProxy(farm);
    // An appliance that answers nothing else has not lost its proxies alone.
    if (isUnanswered) await read('readFarmsSummary', {});
    const state = isSilent && was?.isSilent ? was.state : 'unknown';
    const before = was?.isSilent ? (was.asked?.timeouts ?? 0) : 0;
    const timeouts = callsEnd && !isPatient ? 0 : before + 1;
    return { ...farm, state, isSilent, asked: { ...asked, ...(isSilent && { timeouts }) } };
  }
}

/** Failures that say nothing of one farm. */
const applianceFailures: readonly FailureReason[] = ['connect', 'tls', 'cancelled', 'unauthorized', 'unlicensed'];

/** Reads profile and address of an HTTP farm that was never listed with them. */
async function readAddress(
  { read, safeFarmName }: CollectContext,
  farm: ListedFarm,
  limitMs: number,
): Promise<Partial<ListedFarm>> {
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

/** Returns a farm that was not asked, as it was before; without its state if that is too old. */
function asBefore(
  farm: ListedFarm,
  was: ListedFarm | undefined,
  before: ListBefore | undefined,
  nowElapsedMs: number,
): ListedFarm {
  if (!was) return farm;
  // A state of a list of all is as old as that list, however many runs leave it out.
  const asked = was.asked ?? { atElapsedMs: before?.startedAtElapsedMs ?? neverMs };
  const state = nowElapsedMs - asked.atElapsedMs < keptMs || was.isSilent ? was.state : 'unknown';
  return { ...farm, state, isSilent: was.isSilent ?? false, asked };
}

function askedAtElapsedMs(farm: ListedFarm | undefined): number {
  return farm?.asked?.atElapsedMs ?? neverMs;
}

/** Compares two times, of which both may be never. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
