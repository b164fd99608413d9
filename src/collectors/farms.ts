import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import {
  type CollectContext,
  type Collector,
  defineCollector,
  type FarmFact,
  farmAreas,
  orIfMissing,
  stateWord,
  transitionStates,
} from './collector.ts';
import { type AskedFarm, askEachFarm, hasProxy, hungMs } from './farm-states.ts';
import { rowsOf } from './rows.ts';

export interface FarmList {
  readonly farms: readonly ListedFarm[];
  /** Farms that the configuration leaves out; undefined without a reading. */
  readonly excluded: number | undefined;
  /** The usual time of the list of statistics; undefined before it was read. */
  readonly usualMs?: number | undefined;
  /** When the reading began, on the clock of ages. */
  readonly startedAtMs?: number;
  /** When the list of statistics, which failed, is tried again, on the clock of ages. */
  readonly retryAtMs?: number | undefined;
}

export interface ListedFarm extends FarmFact {
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  readonly established?: number | undefined;
  readonly pending?: number | undefined;
  /** When it was last asked for alone; see farm-states.ts. */
  readonly asked?: AskedFarm | undefined;
}

const source = '(GET /stats/farms, else GET /farms/{farmname}/status';
const ofFarms = rowsOf((list: FarmList) => list.farms, { farm: ({ name }) => name });
const ofList = rowsOf((list: FarmList) => [list], {});

/**
 * State and connections of every farm. `needed restart` hides the health of its backends: read
 * those too (docs/api.md §2.1).
 */
export const farms = defineCollector<FarmList>({
  name: 'farms',
  schedule: '*/30 * * * * *',
  maxStaleMs: 180_000,
  enabled: true,
  refreshedBy: [...farmAreas, 'interfaces', 'letsencrypt'],
  withoutReading: { farms: [], excluded: undefined },
  async collect(context) {
    const before = context.newest(collector);
    const list = mayReadAtOnce(context, before) ? await readAtOnce(context, before) : undefined;
    if (list && !(list instanceof ApplianceError) && !list.hasWaited) return list.read;
    const known = list && !(list instanceof ApplianceError) ? list.read : before;
    try {
      const hasFailed = list instanceof ApplianceError;
      return await readOneByOne(context, known, { hasFailed, wasUsual: before?.usualMs !== undefined });
    } catch (error) {
      if (!(error instanceof ApplianceError) || !list) throw error;
      // The failure of the usual list says more.
      if (list instanceof ApplianceError) throw list;
      return { ...list.read, usualMs: undefined };
    }
  },
  entity: ofFarms.entity('farm', ({ state }) => state),
  families: [
    ofFarms.stateSet(
      'zlb_farm_status',
      `State of a farm, as the appliance words it ${source}, status).`,
      transitionStates.farm,
      ({ state }) => state,
    ),
    ofFarms.gauge(
      'zlb_farm_established_connections',
      'Connections of a farm in state established (GET /stats/farms, established).',
      ({ established }) => established,
    ),
    ofFarms.gauge(
      'zlb_farm_pending_connections',
      'Half-open connections of a farm (GET /stats/farms, pending).',
      ({ pending }) => pending,
    ),
    ofFarms.info('zlb_farm_info', 'A farm and where it listens (GET /stats/farms, else GET /farms/{farmname}).', {
      profile: ({ profile }) => profile,
      vip: ({ vip }) => vip ?? '',
      vport: ({ vport }) => vport ?? '',
    }),
    ofFarms.gauge(
      'zlb_farm_proxy_answers',
      'Whether the proxy of an HTTP farm answers the appliance; absent while it is not running (GET /farms/{farmname}/status).',
      (farm) => (hasProxy(farm) && farm.state !== 'down' ? Number(!farm.isSilent) : undefined),
    ),
    ofList.gauge(
      'zlb_farms_with_state',
      'Farms whose state was read and is not too old; 0 while no list can be read (GET /stats/farms, else GET /farms/{farmname}/status).',
      (list) => list.farms.filter(({ state }) => state !== 'unknown').length,
    ),
    // Without it a rule could not tell a certificate that nobody uses from one of a farm that is
    // left out.
    ofList.gauge(
      'zlb_farms_excluded',
      'Farms that the configuration leaves out; nothing is known of them (GET /stats/farms, else GET /farms/modules/summary, and farms.exclude).',
      ({ excluded }) => excluded,
    ),
  ],
});

// `collect` looks at the reading before, which is of this collector.
const collector: Collector<FarmList> = farms;

/** Failures that a proxy which hangs can cause, or that concern the list of statistics alone. */
const listFailures: readonly FailureReason[] = ['timeout', 'gateway_timeout', 'server_error', 'malformed', 'oversize'];
/**
 * The time until a list is tried again that failed though no proxy hangs: it grows with the
 * connection table of the appliance (docs/api.md §1.6).
 */
const retryAfterMs = 180_000;

/** Returns false while the list of all farms would wait for a proxy, or has just failed. */
function mayReadAtOnce({ age }: CollectContext, before: FarmList | undefined): boolean {
  const isHanging = before?.farms.some(({ isSilent }) => isSilent) ?? false;
  return !isHanging && age() >= (before?.retryAtMs ?? 0);
}

/**
 * Reads all farms with one call; returns a failure that a proxy which hangs can cause. `hasWaited`
 * is true for an answer that came so late that the appliance may have waited for one.
 */
async function readAtOnce(
  { read, watches, age }: CollectContext,
  before: FarmList | undefined,
): Promise<{ readonly read: FarmList; readonly hasWaited: boolean } | ApplianceError> {
  const usualMs = before?.usualMs;
  const startedAtMs = age();
  let tookMs = 0;
  const took = (ms: number): void => {
    tookMs = ms;
  };
  try {
    const work = usualMs === undefined ? {} : { workMs: Math.max(1_000, 2 * usualMs) };
    const listed = await orIfMissing(
      async () => (await read('listFarmStats', {}, { took, ...work })).farms.map(toFarm),
      async () => (await read('listFarms', {}, { took })).params.map(toFarm),
    );
    const hasWaited = usualMs === undefined && tookMs >= hungMs;
    return { read: { ...watchedOf(listed, watches), usualMs: tookMs, startedAtMs }, hasWaited };
  } catch (error) {
    if (error instanceof ApplianceError && listFailures.includes(error.reason)) return error;
    throw error;
  }
}

/** Reads the names of all farms with a call that asks no proxy, then each state alone. */
async function readOneByOne(
  context: CollectContext,
  before: FarmList | undefined,
  { hasFailed, wasUsual }: { readonly hasFailed: boolean; readonly wasUsual: boolean },
): Promise<FarmList> {
  const startedAtMs = context.age();
  let callMs = 0;
  const took = (ms: number): void => {
    callMs = ms;
  };
  const { lslb, gslb, dslb } = (await context.read('readFarmsSummary', {}, { took })).params;
  // Farms of a list that cannot be read are not gone.
  if (!lslb)
    throw new ApplianceError('malformed', {
      endpoint: '/farms/modules/summary',
      message: 'GET /farms/modules/summary: its list lslb cannot be read',
    });
  const known = new Map(before?.farms.map((farm) => [farm.name, farm]));
  const named = [lslb, dslb, gslb].flatMap((module) => module ?? []).map((row) => toNamed(row, known.get(row.name)));
  const { farms: watched, excluded } = watchedOf(named, context.watches);
  const asked = await askEachFarm(context, watched, { before, callMs });
  const isHanging = asked.some(({ isSilent }) => isSilent);
  return {
    farms: asked,
    excluded,
    // A list that took long and waited for no proxy is usual: the appliance has many farms.
    usualMs: isHanging && !wasUsual ? undefined : before?.usualMs,
    startedAtMs,
    retryAtMs: hasFailed && !isHanging ? context.age() + retryAfterMs : undefined,
  };
}

/**
 * Returns a farm that only its name is known of now, with the address at which it was last listed;
 * not with its connections, which change.
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

interface FarmRow {
  readonly farmname: string;
  readonly profile?: string | null;
  readonly status?: string | null;
  readonly vip?: string | null;
  readonly vport?: string | null;
  readonly established?: number | null;
  readonly pending?: number | null;
}

function toFarm({ farmname, profile, status, vip, vport, established, pending }: FarmRow): ListedFarm {
  return {
    name: farmname,
    profile: profile ?? '',
    state: stateWord(status),
    vip: vip || undefined,
    vport: vport || undefined,
    established: established ?? undefined,
    pending: pending ?? undefined,
  };
}
