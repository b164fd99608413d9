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
  /** True after a list that took so long, or failed so, that a proxy may hang. */
  readonly isSuspect?: boolean;
}

export interface ListedFarm extends FarmFact {
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  readonly established?: number | undefined;
  readonly pending?: number | undefined;
  /** When it was last asked for alone, in Unix ms; see farm-states.ts. */
  readonly asked?: AskedFarm | undefined;
}

const source = '(GET /stats/farms, else GET /farms';
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
    const mayHang = before?.isSuspect || before?.farms.some(({ isSilent }) => isSilent);
    const list = mayHang ? undefined : await readAtOnce(context, before);
    if (list && !(list instanceof ApplianceError)) return list;
    try {
      return await readOneByOne(context, before);
    } catch (error) {
      // The failure of the usual list says more.
      if (!(error instanceof ApplianceError)) throw error;
      const instead = list ?? (await readAtOnce(context, undefined));
      if (instead instanceof ApplianceError) throw instead;
      return instead;
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
    ofFarms.info('zlb_farm_info', `A farm and where it listens ${source}).`, {
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
      'Farms whose state was read and is not too old; 0 while no list can be read (GET /stats/farms, else GET /farms).',
      (list) => list.farms.filter(({ state }) => state !== 'unknown').length,
    ),
    // Without it a rule could not tell a certificate that nobody uses from one of a farm that is
    // left out.
    ofList.gauge(
      'zlb_farms_excluded',
      'Farms that the configuration leaves out; nothing is known of them (GET /stats/farms, else GET /farms, and farms.exclude).',
      ({ excluded }) => excluded,
    ),
  ],
});

// `collect` looks at the reading before, which is of this collector.
const collector: Collector<FarmList> = farms;

/** The longest list of statistics: the appliance's web server ends a request then. */
const longestListMs = 60_000;
/** Failures that a proxy which hangs can cause, or that concern the list of statistics alone. */
const listFailures: readonly FailureReason[] = ['timeout', 'gateway_timeout', 'server_error', 'malformed', 'oversize'];

/** Reads all farms with one call; returns a failure that a proxy which hangs can cause. */
async function readAtOnce(
  { read, watches }: CollectContext,
  before: FarmList | undefined,
): Promise<FarmList | ApplianceError> {
  const usualMs = before?.usualMs;
  let tookMs = 0;
  const took = (ms: number): void => {
    tookMs = ms;
  };
  try {
    const work = usualMs === undefined ? {} : { workMs: Math.max(1_000, 2 * usualMs) };
    const listed = await orIfMissing(
      async () => (await read('listFarmStats', {}, { took, ...work })).farms.map(toFarm),
      async () => (await read('listFarms', {})).params.map(toFarm),
    );
    const isSuspect = usualMs === undefined && tookMs >= hungMs;
    return { ...watchedOf(listed, watches), usualMs: isSuspect ? undefined : tookMs, isSuspect };
  } catch (error) {
    if (error instanceof ApplianceError && listFailures.includes(error.reason)) return error;
    throw error;
  }
}

/** Reads the names of all farms with a call that asks no proxy, then each state alone. */
async function readOneByOne(context: CollectContext, before: FarmList | undefined): Promise<FarmList> {
  let callMs = 0;
  const took = (ms: number): void => {
    callMs = ms;
  };
  const listed = (await context.read('listFarms', {}, { took })).params.map(toFarm);
  const { farms: watched, excluded } = watchedOf(listed, context.watches);
  const asked = await askEachFarm(context, watched, { before: before?.farms ?? [], callMs });
  return { farms: asked, excluded, usualMs: before?.usualMs ?? longestListMs / 4, isSuspect: false };
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
