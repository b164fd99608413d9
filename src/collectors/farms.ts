import { ApplianceError } from '../appliance/errors.ts';
import { gauge, stateSet } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import {
  type ApplianceCollector,
  closedState,
  type CollectContext,
  farmAreas,
  stateWord,
  transitionStates,
} from './collector.ts';
import type { FarmFinding } from './findings.ts';

const source = '(GET /stats/farms, else GET /farms';
const labels = ['farm'] as const;
const info = gauge('zlb_farm_info', `A farm and where it listens ${source}).`, [...labels, 'profile', 'vip', 'vport']);
const status = stateSet(
  'zlb_farm_status',
  `State of a farm, as the appliance words it ${source}, status).`,
  labels,
  transitionStates.farm,
);
const established = gauge(
  'zlb_farm_established_connections',
  'Connections of a farm in state established (GET /stats/farms, established).',
  labels,
);
const pending = gauge(
  'zlb_farm_pending_connections',
  'Half-open connections of a farm (GET /stats/farms, pending).',
  labels,
);

interface Farm {
  readonly farmname: string;
  readonly profile?: string | null;
  readonly status?: string | null;
  readonly vip?: string | null;
  readonly vport?: string | null;
  readonly established?: number | null;
  readonly pending?: number | null;
}

/** Without it a rule could not tell a certificate that nobody uses from one of a farm that is left out. */
const excluded = gauge(
  'zlb_farms_excluded',
  'Farms that the configuration leaves out; nothing is known of them (GET /stats/farms, else GET /farms, and farms.exclude).',
);

/** State and connections of every farm. `needed restart` hides the health of its backends: read those too (WIRE.md §2.1). */
export const farms: ApplianceCollector = {
  name: 'farms',
  schedule: '*/30 * * * * *',
  maxStaleMs: 180_000,
  enabled: true,
  touchedBy: [...farmAreas, 'interfaces', 'letsencrypt'],
  families: [status, established, pending, info, excluded],
  async collect(context) {
    const listed = await listFarms(context);
    const watched = listed.filter((farm) => context.watches(farm.farmname));
    return {
      expose(emit) {
        exposeFarms(watched, emit);
        emit.sample(excluded, {}, listed.length - watched.length);
      },
      found: [
        { family: status, findings: { farms: watched.map(toFinding), farmsLeftOut: listed.length - watched.length } },
      ],
      states: watched.map((farm) => ({
        object: 'farm',
        labels: { farm: farm.farmname },
        state: stateWord(farm.status),
      })),
      facts: {
        farms: watched.map((farm) => ({
          name: farm.farmname,
          profile: farm.profile ?? '',
          status: stateWord(farm.status),
        })),
      },
    };
  },
};

async function listFarms({ read }: CollectContext): Promise<readonly Farm[]> {
  try {
    return (await read('listFarmStats', {})).farms;
  } catch (error) {
    if (!(error instanceof ApplianceError && error.routeMissing)) throw error;
    return (await read('listFarms', {})).params;
  }
}

function toFinding({ farmname, profile, status: word, vip, vport, established, pending }: Farm): FarmFinding {
  return {
    name: farmname,
    profile: profile ?? '',
    state: closedState('farm', stateWord(word)),
    vip: vip || undefined,
    vport: vport || undefined,
    established: established ?? undefined,
    pending: pending ?? undefined,
  };
}

/** Family by family, what matters most first: over the series limit, the last ones are left out. */
function exposeFarms(list: readonly Farm[], emit: Emit): void {
  const labelled = list.map((each) => ({ ...each, labels: { farm: each.farmname } }));
  for (const each of labelled) emit.state(status, each.labels, stateWord(each.status));
  for (const each of labelled) emit.sample(established, each.labels, each.established);
  for (const each of labelled) emit.sample(pending, each.labels, each.pending);
  for (const { farmname: farm, profile, vip, vport } of list)
    emit.info(info, { farm, profile: profile ?? '', vip: vip ?? '', vport: vport ?? '' });
}
