import { defineCollector, type FarmFact, farmAreas, orIfMissing, stateWord, transitionStates } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface FarmList {
  readonly farms: readonly ListedFarm[];
  /** Farms that the configuration leaves out. */
  readonly excluded: number;
}

export interface ListedFarm extends FarmFact {
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  readonly established?: number | undefined;
  readonly pending?: number | undefined;
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
  async collect({ read, watches }) {
    const listed = await orIfMissing(
      async () => (await read('listFarmStats', {})).farms.map(toFarm),
      async () => (await read('listFarms', {})).params.map(toFarm),
    );
    const watched = listed.filter(({ name }) => watches(name));
    return { farms: watched, excluded: listed.length - watched.length };
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
    // Without it a rule could not tell a certificate that nobody uses from one of a farm that is
    // left out.
    ofList.gauge(
      'zlb_farms_excluded',
      'Farms that the configuration leaves out; nothing is known of them (GET /stats/farms, else GET /farms, and farms.exclude).',
      ({ excluded }) => excluded,
    ),
  ],
});

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
