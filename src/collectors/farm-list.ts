import { farmOf, type FarmRow } from '../appliance/farm.ts';
import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import type { CollectContext, CollectorReadOptions, ReadFrom } from './collector.ts';
import { askEachFarm, askSuspects, byName, doCallsEnd, hungMs, type ListedFarm } from './ask-farms.ts';

export interface FarmList {
  readonly farms: readonly ListedFarm[];
  /** Farms that the configuration leaves out; undefined without a reading. */
  readonly excluded: number | undefined;
  /** The time of a list of all farms that waits for no proxy; undefined before it is known. */
  readonly usualMs?: number | undefined;
  /** True once a list of all farms was read, which has their addresses. */
  readonly hasAddresses?: boolean | undefined;
  /** True where each state was read alone, a part of them in each run. */
  readonly isOneByOne?: boolean;
  /** When the reading began. */
  readonly startedAtElapsedMs?: number;
  /** When the list of all farms, which failed, is tried again. */
  readonly retryAtElapsedMs?: number | undefined;
}

/** Failures of a list that a hung proxy can cause, or that concern the list of all farms alone. */
const listFailures: readonly FailureReason[] = ['timeout', 'gateway_timeout', 'server_error', 'malformed', 'oversize'];
/** The time until a list is tried again that failed, though no proxy hangs or though it might. */
const retryAfterMs = 180_000;
/** The time limit of the first list: with three proxies that hang the web server would end it. */
const firstLimitMs = 25_000;
/** The web server of the appliance ends a list that takes longer. */
const longestListMs = 60_000;
const minLimitMs = 7_000;
/** The time for which a list waits for each proxy that hangs (docs/api.md §1.6). */
const waitMs = 21_000;
/** The time of a state that is read alone while a proxy hangs. */
const stateMs = 500;

/**
 * Reads all farms with their states: with one call, or one by one while that call would wait for
 * proxies that hang (docs/architecture.md).
 */
export async function readFarms(context: CollectContext, before: FarmList | undefined): Promise<FarmList> {
  const list = mayReadAtOnce(context, before) ? await readAtOnce(context, before) : undefined;
  if (list && !(list instanceof ApplianceError)) return list;
  try {
    return await readOneByOne(context, before, { hasFailed: list !== undefined });
  } catch (error) {
    // The failure of the usual list says more.
    throw error instanceof ApplianceError && list ? list : error;
  }
}

/** Returns false for a list that has just failed, or would wait for proxies too long. */
function mayReadAtOnce({ elapsedNow }: CollectContext, before: FarmList | undefined): boolean {
  if (!before) return true;
  const hanging = countSilent(before);
  if (elapsedNow() < (before.retryAtElapsedMs ?? 0)) return false;
  // A list might never end either, and is tried once where it alone has the addresses.
  const isTried = before.hasAddresses === true || before.retryAtElapsedMs !== undefined;
  if (hanging > 0 && isTried && !doCallsEnd(before.farms)) return false;
  return hanging === 0 || isQuicker(before, hanging) || (!before.hasAddresses && hasEnd(before, hanging));
}

/** Returns true if a list that waits for so many proxies is twice as quick as states alone. */
function isQuicker(list: FarmList, hanging: number): boolean {
  return hasEnd(list, hanging) && 2 * (usualOf(list) + hanging * waitMs) < list.farms.length * stateMs;
}

/** Returns true if a list that waits for so many proxies is over before the web server ends it. */
function hasEnd(list: FarmList, hanging: number): boolean {
  return usualOf(list) + hanging * waitMs < 0.9 * longestListMs;
}

function usualOf({ usualMs = 0 }: FarmList): number {
  return usualMs;
}

function countSilent({ farms }: FarmList): number {
  return farms.filter(({ isSilent }) => isSilent).length;
}

/**
 * Returns the limits of a list of all farms. It grows with the farms of the appliance, so one that
 * failed gets all the time that the web server allows.
 */
function listCallLimits(before: FarmList | undefined): CollectorReadOptions {
  if (!before) return { limitMs: firstLimitMs };
  const { usualMs, retryAtElapsedMs } = before;
  if (countSilent(before) > 0) return { limitMs: longestListMs, workMs: Math.max(1_000, usualOf(before)) };
  if (usualMs === undefined || retryAtElapsedMs !== undefined) return { limitMs: longestListMs };
  // On a large appliance the response, though late, names the farms in question sooner.
  const isLarge = isQuicker(before, 1);
  const leastMs = isLarge ? usualMs + 1.2 * waitMs : minLimitMs;
  const limitMs = Math.min(Math.max(leastMs, 3 * usualMs), longestListMs);
  return { limitMs, workMs: Math.max(1_000, (isLarge ? 1.5 : 2) * usualMs) };
}

/** Reads all farms with one call; returns a failure that a proxy which hangs can cause. */
async function readAtOnce(context: CollectContext, before: FarmList | undefined): Promise<FarmList | ApplianceError> {
  const { read, watches, elapsedNow } = context;
  const startedAtElapsedMs = elapsedNow();
  let tookMs = 0;
  const onDuration = (ms: number): void => {
    tookMs = ms;
  };
  try {
    const limits = { ...listCallLimits(before), onDuration };
    const rows = await listOf(read, limits);
    const list = { ...watchedOf(rows.map(farmOf), watches), usualMs: tookMs, hasAddresses: true, startedAtElapsedMs };
    const waitedMs = tookMs - (before?.usualMs ?? 0);
    return waitedMs < hungMs ? list : await findSilent(context, list, { before, waitedMs });
  } catch (error) {
    if (error instanceof ApplianceError && listFailures.includes(error.reason)) return error;
    throw error;
  }
}

/**
 * Returns the states of all farms by the cheapest list (docs/api.md §1.6). Where the key may not read
 * that list, the statistics have the same states.
 */
async function listOf(read: ReadFrom, limits: CollectorReadOptions): Promise<readonly FarmRow[]> {
  try {
    return (await read('listFarms', {}, limits)).params;
  } catch (error) {
    if (!(error instanceof ApplianceError) || !(error.routeMissing || error.reason === 'forbidden')) throw error;
    return (await read('listFarmStats', {}, limits)).farms;
  }
}

/** Finds the farms for whose proxies a list has waited; without any it took long by its size. */
async function findSilent(
  context: CollectContext,
  list: FarmList,
  { before, waitedMs }: { readonly before: FarmList | undefined; readonly waitedMs: number },
): Promise<FarmList> {
  const { usualMs } = before ?? {};
  try {
    const found = await askSuspects(context, list.farms, { before, hanging: Math.round(waitedMs / waitMs) });
    return { ...list, farms: found, usualMs: found.some(({ isSilent }) => isSilent) ? usualMs : list.usualMs };
  } catch (error) {
    if (error instanceof ApplianceError) return { ...list, usualMs };
    throw error;
  }
}

/** Reads the names of all farms with a call that asks no proxy, then each state alone. */
async function readOneByOne(
  context: CollectContext,
  before: FarmList | undefined,
  { hasFailed }: { readonly hasFailed: boolean },
): Promise<FarmList> {
  const startedAtElapsedMs = context.elapsedNow();
  let callMs = 0;
  const onDuration = (ms: number): void => {
    callMs = ms;
  };
  const { lslb, gslb, dslb } = (await context.read('readFarmsSummary', {}, { onDuration })).params;
  // Farms of a list that cannot be read are not gone.
  if (!lslb)
    throw new ApplianceError('malformed', {
      endpoint: '/farms/modules/summary',
      message: 'GET /farms/modules/summary: its list lslb cannot be read',
    });
  const known = byName(before);
  const named = [lslb, dslb, gslb].flatMap((module) => module ?? []).map((row) => toNamed(row, known.get(row.name)));
  const { farms: watched, excluded } = watchedOf(named, context.watches);
  const asked = await askEachFarm(context, watched, { before, callMs });
  const hasFound = asked.some(({ name, isSilent }) => isSilent && !known.get(name)?.isSilent);
  const retryAtElapsedMs = hasFailed ? context.elapsedNow() + retryAfterMs : before?.retryAtElapsedMs;
  return {
    farms: asked,
    excluded,
    isOneByOne: true,
    usualMs: before?.usualMs,
    hasAddresses: before?.hasAddresses,
    startedAtElapsedMs,
    // A proxy that was found just now explains the failure.
    retryAtElapsedMs: hasFound ? undefined : retryAtElapsedMs,
  };
}

/**
 * Returns a farm that only its name is known of now, with the address at which it was last listed.
 */
function toNamed({ name, profile }: { readonly name: string; readonly profile?: string | null }, was?: ListedFarm) {
  // The summary says http for an HTTPS farm as well.
  const isSame = was && (profile === was.profile || (profile === 'http' && was.profile === 'https'));
  const address = isSame ? { vip: was.vip, vport: was.vport } : {};
  return { name, profile: isSame ? was.profile : (profile ?? ''), state: 'unknown', ...address };
}

function watchedOf(
  listed: readonly ListedFarm[],
  watches: (farm: string) => boolean,
): { readonly farms: readonly ListedFarm[]; readonly excluded: number } {
  const watched = listed.filter(({ name }) => watches(name));
  return { farms: watched, excluded: listed.length - watched.length };
}
