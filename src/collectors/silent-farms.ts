// Decides when to ask for a silent farm, whose proxy does not answer the appliance. The call takes
// 20 s, and on some releases never ends, which leaves a process on the appliance (docs/api.md §1.6). So
// silent farms are asked for rarely, and one in a run. ask-farms.ts makes the calls.

import type { Farm } from '../appliance/farm.ts';
import type { CollectContext } from './collector.ts';

/** The time between two calls for silent farms, where such a call ends. */
const silentEveryMs = 90_000;
/** The time after a call for a silent farm that our limit ended; each further one doubles it. */
const afterTimeoutMs = 120_000;
const longestAfterTimeoutMs = 3_600_000;
/** The time between two calls with a full wait, for each silent farm: meanwhile nothing else is read. */
const fullWaitEveryMs = 1_800_000;
const neverMs = Number.NEGATIVE_INFINITY;

/**
 * Returns the silent farm to ask for in this run, if any: one that has recovered, or, of those
 * that are due, the one that waited longest. A call with a full wait lasts until the appliance gives up.
 */
export function nextSilent(context: CollectContext, listed: readonly Farm[], known: ReadonlyMap<string, Farm>) {
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
  farm: Farm | undefined,
): boolean {
  if (!farm?.isSilent) return false;
  const news = [facts.answersSinceElapsedMs?.get(farm.name), changedAtElapsedMs(farm.name)];
  return news.some((atElapsedMs) => (atElapsedMs ?? neverMs) > askedAtElapsedMs(farm));
}

function pauseMs(farm: Pick<Farm, 'lastAsk'> | undefined): number {
  const timeouts = farm?.lastAsk?.timeouts ?? 0;
  return timeouts === 0 ? silentEveryMs : Math.min(afterTimeoutMs * 2 ** (timeouts - 1), longestAfterTimeoutMs);
}

/** Returns when a silent farm is asked for again; undefined for one whose calls end: that is soon. */
export function nextAskElapsedMs({ isSilent, lastAsk }: Farm): number | undefined {
  return isSilent && lastAsk?.timeouts ? lastAsk.atElapsedMs + pauseMs({ lastAsk }) : undefined;
}

/** Returns true if the appliance is known to give up its wait for a proxy: it did so for one of these. */
export function givesUpWaiting(farms: readonly Farm[]): boolean {
  return farms.some(({ isSilent, lastAsk }) => isSilent === true && lastAsk?.timeouts === 0);
}

export function askedAtElapsedMs(farm: Farm | undefined): number {
  return farm?.lastAsk?.atElapsedMs ?? neverMs;
}

/** Compares two moments; both may be never. */
export function compareMoments(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
