// Reads all farms with their states, and shows them: with one list, or with a call for each farm
// (farm-states.ts) while the list would wait for proxies that hang. What a run needs to know of the ones
// before is in the reading: `memory` of the list, and `lastAsk` of each farm.

import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import { type Farm, farmOf, hasProxy } from '../appliance/farm.ts';
import type { ReplyOf } from '../appliance/client.ts';
import { statesOf } from '../lib/states.ts';
import {
  type ApplianceWideCollector,
  type CollectContext,
  type CollectorReadOptions,
  farmAreas,
  type Read,
} from './collector.ts';
import { farmObject, reportedSettings } from './configured.ts';
import { askEachFarm, type AskedFarm, askMaybeSilent, givesUpWaiting, waitedForProxyMs } from './farm-states.ts';
import { rowsOf } from './rows.ts';

export interface FarmList {
  readonly farms: readonly AskedFarm[];
  /** Farms that the configuration leaves out; undefined without a reading. */
  readonly excluded: number | undefined;
  /** True where each state was read alone, a part of them in each run. */
  readonly isOneByOne?: boolean;
  readonly memory?: ListMemory;
}

/** The facts that the next run needs. */
interface ListMemory {
  readonly startedAtElapsedMs?: number;
  /** The time of a list that waits for no proxy; undefined before it is known. */
  readonly usualMs?: number | undefined;
  /** True once a list was read, which has the addresses of all farms. */
  readonly hasAddresses?: boolean | undefined;
  /** When the list, which failed, is tried again. */
  readonly retryAtElapsedMs?: number | undefined;
}

const lists = 'GET /farms or GET /stats/farms';
const farmRows = rowsOf((list: FarmList) => list.farms, { farm: ({ name }) => name });
const listRows = rowsOf((list: FarmList) => [list], {});

/**
 * State of every farm. `needed restart` hides the health of its backends: read
 * those too (docs/api.md §2.1).
 */
export const farmsCollector: ApplianceWideCollector<FarmList> = {
  name: 'farms',
  schedule: '*/30 * * * * *',
  maxStaleMs: 180_000,
  enabled: true,
  refreshedBy: [...farmAreas, 'interfaces', 'letsencrypt'],
  withoutReading: { farms: [], excluded: undefined },
  collect: (context) => readFarms(context, context.fresh(farmsCollector)),
  isPartial: ({ isOneByOne }) => isOneByOne === true,
  entity: farmRows.entity('farm', ({ state }) => state),
  configuredObjects: ({ farms }) =>
    farms.map(({ name, profile, vip, vport }) => {
      // A summary, which has no address, says http of an HTTPS farm as well.
      const isKnown = profile !== 'http' || vip !== undefined;
      return farmObject(name, reportedSettings({ profile: isKnown ? profile : undefined, vip, vport }));
    }),
  families: [
    farmRows.stateSet(
      'zlb_farm_status',
      `State of a farm, as the appliance words it (${lists}, else GET /farms/{farmname}/status, status).`,
      statesOf.farm,
      ({ state }) => state,
    ),
    farmRows.info('zlb_farm_info', `A farm and where it listens (${lists}, else GET /farms/{farmname}).`, {
      profile: ({ profile }) => profile,
      vip: ({ vip }) => vip ?? '',
      vport: ({ vport }) => vport ?? '',
    }),
    farmRows.gauge(
      'zlb_farm_proxy_answers',
      'Whether the proxy of an HTTP farm answers the appliance; absent while it is not running (GET /farms/{farmname}/status).',
      (farm) => (hasProxy(farm.profile) && farm.state !== 'down' ? Number(!farm.isSilent) : undefined),
    ),
    listRows.gauge(
      'zlb_farms_with_state',
      `Farms whose state was read and is not too old; 0 while no list can be read (${lists}, else GET /farms/{farmname}/status).`,
      (list) => list.farms.filter(({ state }) => state !== 'unknown').length,
    ),
    // Without it a rule could not tell a certificate that nobody uses from one of a farm that is
    // left out.
    listRows.gauge(
      'zlb_farms_excluded',
      `Farms that the configuration leaves out; nothing is known of them (${lists}, else GET /farms/modules/summary, and farms.exclude).`,
      ({ excluded }) => excluded,
    ),
  ],
};

/** Failures that a hung proxy can cause, or that concern the list alone. */
const listFailures: readonly FailureReason[] = ['timeout', 'gateway_timeout', 'server_error', 'malformed', 'oversize'];
/** The time until a list that failed is tried again, unless a proxy that hangs explains the failure. */
const retryAfterMs = 180_000;
/** The time limit of the first list: with three proxies that hang the web server would end it. */
const firstLimitMs = 25_000;
/** The web server of the appliance ends a list that takes longer. */
const longestListMs = 60_000;
const minListLimitMs = 7_000;
/** The time for which a list waits for each proxy that hangs (docs/api.md §1.6). */
const waitPerProxyMs = 21_000;
/** The time of a call for one state while a proxy hangs. */
const callPerStateMs = 500;

/** Reads all farms (docs/architecture.md); `before` is the list of the run before. */
async function readFarms(context: CollectContext, before: FarmList | undefined): Promise<FarmList> {
  const list = chooseRead(context, before) === 'list' ? await readList(context, before) : undefined;
  if (list && !(list instanceof ApplianceError)) return list;
  try {
    return await readOneByOne(context, before, { hasFailed: list !== undefined });
  } catch (error) {
    // The failure of the usual list says more.
    throw error instanceof ApplianceError && list ? list : error;
  }
}

function chooseRead({ elapsedNow }: CollectContext, before: FarmList | undefined): 'list' | 'one by one' {
  if (!before) return 'list';
  const { hasAddresses = false, retryAtElapsedMs } = before.memory ?? {};
  // It has just failed.
  if (elapsedNow() < (retryAtElapsedMs ?? 0)) return 'one by one';
  const silent = countSilent(before);
  if (silent === 0) return 'list';
  // It might never end. Where it alone has the addresses, it is tried once.
  const wasTried = hasAddresses || retryAtElapsedMs !== undefined;
  if (wasTried && !givesUpWaiting(before.farms)) return 'one by one';
  if (isQuicker(before, silent)) return 'list';
  return !hasAddresses && endsInTime(before, silent) ? 'list' : 'one by one';
}

/** Returns true if a list that waits for the silent farms is twice as quick as states one by one. */
function isQuicker(list: FarmList, silent: number): boolean {
  return endsInTime(list, silent) && 2 * listMs(list, silent) < list.farms.length * callPerStateMs;
}

/** Returns true if a list that waits for the silent farms ends before the web server ends it. */
function endsInTime(list: FarmList, silent: number): boolean {
  return listMs(list, silent) < 0.9 * longestListMs;
}

function listMs({ memory }: FarmList, silent: number): number {
  return (memory?.usualMs ?? 0) + silent * waitPerProxyMs;
}

function countSilent({ farms }: FarmList): number {
  return farms.filter(({ isSilent }) => isSilent).length;
}

/**
 * Returns the limits of a list. It grows with the farms of the appliance, so one that failed gets all
 * the time that the web server allows.
 */
function listCallLimits(before: FarmList | undefined): CollectorReadOptions {
  if (!before) return { limitMs: firstLimitMs };
  const { usualMs, retryAtElapsedMs } = before.memory ?? {};
  if (countSilent(before) > 0) return { limitMs: longestListMs, workMs: Math.max(1_000, usualMs ?? 0) };
  if (usualMs === undefined || retryAtElapsedMs !== undefined) return { limitMs: longestListMs };
  // On a large appliance the response, though late, names the farms in question sooner.
  const isLarge = isQuicker(before, 1);
  const leastMs = isLarge ? usualMs + 1.2 * waitPerProxyMs : minListLimitMs;
  const limitMs = Math.min(Math.max(leastMs, 3 * usualMs), longestListMs);
  return { limitMs, workMs: Math.max(1_000, (isLarge ? 1.5 : 2) * usualMs) };
}

/** Reads all farms with one call; returns a failure that a hung proxy can cause. */
async function readList(context: CollectContext, before: FarmList | undefined): Promise<FarmList | ApplianceError> {
  const { read, watches, elapsedNow } = context;
  const startedAtElapsedMs = elapsedNow();
  let tookMs = 0;
  const onDuration = (ms: number): void => void (tookMs = ms);
  try {
    const rows = await readRows(read, { ...listCallLimits(before), onDuration });
    const memory = { startedAtElapsedMs, usualMs: tookMs, hasAddresses: true };
    const list = { ...watchedOf(rows.map(farmOf), watches), memory };
    const waitedMs = tookMs - (before?.memory?.usualMs ?? 0);
    return waitedMs < waitedForProxyMs ? list : await findSilent(context, list, { before, waitedMs });
  } catch (error) {
    if (error instanceof ApplianceError && listFailures.includes(error.reason)) return error;
    throw error;
  }
}

/**
 * Returns the states of all farms by the cheapest list (docs/api.md §1.6). Where the key may not read
 * that list, the statistics have the same states.
 */
async function readRows(read: Read, limits: CollectorReadOptions): Promise<ReplyOf<'listFarms'>['params']> {
  try {
    return (await read('listFarms', {}, limits)).params;
  } catch (error) {
    if (!(error instanceof ApplianceError) || !(error.routeMissing || error.reason === 'forbidden')) throw error;
    return (await read('listFarmStats', {}, limits)).farms;
  }
}

/** Finds the farms for whose proxies a list has waited; without any, its size explains its time. */
async function findSilent(
  context: CollectContext,
  list: FarmList,
  { before, waitedMs }: { readonly before: FarmList | undefined; readonly waitedMs: number },
): Promise<FarmList> {
  const memory = { ...list.memory, usualMs: before?.memory?.usualMs };
  try {
    const waitedFor = Math.round(waitedMs / waitPerProxyMs);
    const farms = await askMaybeSilent(context, list.farms, { known: byName(before), waitedFor });
    return farms.some(({ isSilent }) => isSilent) ? { ...list, farms, memory } : { ...list, farms };
  } catch (error) {
    if (error instanceof ApplianceError) return { ...list, memory };
    throw error;
  }
}

/** Reads the names of all farms with a call that waits for no proxy, then each state alone. */
async function readOneByOne(
  context: CollectContext,
  before: FarmList | undefined,
  { hasFailed }: { readonly hasFailed: boolean },
): Promise<FarmList> {
  const startedAtElapsedMs = context.elapsedNow();
  let callMs = 0;
  const onDuration = (ms: number): void => void (callMs = ms);
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
  const asked = await askEachFarm(context, watched, {
    known,
    listedAtElapsedMs: before?.memory?.startedAtElapsedMs,
    callMs,
  });
  const hasFound = asked.some(({ name, isSilent }) => isSilent && !known.get(name)?.isSilent);
  const retryAtElapsedMs = hasFailed ? context.elapsedNow() + retryAfterMs : before?.memory?.retryAtElapsedMs;
  return {
    farms: asked,
    excluded,
    isOneByOne: true,
    memory: {
      startedAtElapsedMs,
      usualMs: before?.memory?.usualMs,
      hasAddresses: before?.memory?.hasAddresses,
      // A proxy that was found just now explains the failure.
      retryAtElapsedMs: hasFound ? undefined : retryAtElapsedMs,
    },
  };
}

/** Returns a farm of the summary, which has no addresses, with its address in the last list. */
function toNamed({ name, profile }: { readonly name: string; readonly profile?: string | null }, was?: Farm) {
  // The summary says http for an HTTPS farm as well.
  const isSame = was && (profile === was.profile || (profile === 'http' && was.profile === 'https'));
  const address = isSame ? { vip: was.vip, vport: was.vport } : {};
  return { name, profile: isSame ? was.profile : (profile ?? ''), state: 'unknown', ...address };
}

function watchedOf(
  listed: readonly Farm[],
  watches: (farm: string) => boolean,
): { readonly farms: readonly Farm[]; readonly excluded: number } {
  const watched = listed.filter(({ name }) => watches(name));
  return { farms: watched, excluded: listed.length - watched.length };
}

function byName(list: FarmList | undefined): ReadonlyMap<string, AskedFarm> {
  return new Map(list?.farms.map((farm) => [farm.name, farm]));
}
