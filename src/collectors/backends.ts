import type { Reply } from '../appliance/client.ts';
import { fitsSegment } from '../appliance/route.ts';
import { detail, gauge, stateSet } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { backendLabel, clashingAddresses } from './backend-label.ts';
import { closedState, farmAreas, type FarmCollector, type FarmFact, stateWord, transitionStates } from './collector.ts';
import type { BackendFinding } from './findings.ts';

const labels = ['farm', 'service', 'backend'] as const;
const source = '(GET /stats/farms/{farmname}';
const sessions = gauge('zlb_farm_sessions', `Persistence sessions of a farm ${source}, total_sessions).`, ['farm']);
const byStatus = gauge('zlb_farm_backends', `Backends of a service by state ${source}, status).`, [
  'farm',
  'service',
  'status',
]);
const info = detail(
  gauge('zlb_backend_info', `A backend and its address ${source}).`, [...labels, 'id', 'ip', 'port']),
);
const status = detail(
  stateSet(
    'zlb_backend_status',
    `State of a backend; unknown while its farm is stopped, and always up in an L4 farm without health check ${source}, status).`,
    labels,
    transitionStates.backend,
  ),
);
const established = detail(
  gauge(
    'zlb_backend_established_connections',
    `Connections to a backend in state established ${source}, established).`,
    labels,
  ),
);
const pending = detail(
  gauge(
    'zlb_backend_pending_connections',
    `Half-open connections to the address of a backend, shared by all farms that use it ${source}, pending).`,
    labels,
  ),
);
const maxConnections = detail(
  gauge(
    'zlb_backend_max_connections',
    `Connection limit of an L4 backend; absent without one ${source}, max_conns).`,
    labels,
  ),
);
const weight = detail(
  gauge(
    'zlb_backend_weight',
    'Weight of a backend (GET /stats/farms/{farmname} for L4, GET /farms/{farmname} for HTTP, weight).',
    labels,
  ),
);
const priority = detail(
  gauge(
    'zlb_backend_priority',
    'Priority of a backend (GET /stats/farms/{farmname} for L4, GET /farms/{farmname} for HTTP, priority).',
    labels,
  ),
);

/** The families that the farm configuration writes for HTTP farms, whose statistics do not have them. */
export const backendSettings = { weight, priority } as const;

type Stats = Reply<'readFarmStats'>;

/** Names that the appliance's router keeps for itself under `/stats/farms` (WIRE.md §8, 17), and profiles without statistics. */
const unreachableNames = ['modules', 'total'];
const profilesWithoutStats = ['datalink'];

/** Backends and sessions of each farm, from the only read whose backend states are true (WIRE.md §8, 10 and 11). */
export const backends: FarmCollector = {
  name: 'backends',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  touchedBy: [...farmAreas, 'farmguardian'],
  families: [sessions, byStatus, status, established, pending, maxConnections, weight, priority, info],
  covers: ({ name, profile }) =>
    fitsSegment(name) && !unreachableNames.includes(name) && !profilesWithoutStats.includes(profile),
  begin: () =>
    Promise.resolve(async (farm, { read, facts, compact }) => {
      const stats = await read('readFarmStats', { farmname: farm.name });
      const current = facts.farms?.find(({ name }) => name === farm.name) ?? farm;
      const list = describeBackends(current, stats);
      return {
        expose(emit) {
          exposeSums(current.name, list, stats, emit);
          exposeBackends(list, compact, emit);
        },
        found: [{ family: status, findings: saysNothing(current, list) ? {} : { backends: list.map(toFinding) } }],
        states: list.map((backend) => ({ object: 'backend', labels: backend.labels, state: backend.status })),
      };
    }),
};

interface Backend extends Omit<NonNullable<Stats['backends']>[number], 'status'> {
  readonly labels: { readonly farm: string; readonly service: string; readonly backend: string };
  readonly status: string;
}

function describeBackends(farm: FarmFact, stats: Stats): Backend[] {
  const list = stats.backends ?? [];
  const clashes = clashingAddresses(list.map((each) => ({ ...each, service: each.service ?? '' })));
  return list.map((each) => {
    const service = each.service ?? '';
    const word = stateWord(each.status);
    return {
      ...each,
      labels: { farm: farm.name, service, backend: backendLabel({ ...each, service }, clashes) },
      // Releases differ in what they list for a stopped farm; whatever it says, nobody checked.
      status: farm.status === 'down' ? 'unknown' : (statusSynonyms.get(word) ?? word),
    };
  });
}

/**
 * True for an empty list of a farm that does not run, or of which nobody knows whether it runs: appliances list no
 * backends of a stopped farm, however many it has (API 4.0, `GET /stats/farms/{farmname}`).
 */
function saysNothing({ status: word }: FarmFact, list: readonly Backend[]): boolean {
  return list.length === 0 && (word === 'down' || word === 'unknown');
}

function toFinding({ labels: { service, backend }, status: word, established: count }: Backend): BackendFinding {
  return { service, backend, state: closedState('backend', word), established: count ?? undefined };
}

/** Internal words that some releases let through (WIRE.md §2.2). */
const statusSynonyms: ReadonlyMap<string, string> = new Map([
  ['fgDOWN', 'down'],
  ['active', 'up'],
  ['undefined', 'unknown'],
]);

function exposeSums(farm: string, list: readonly Backend[], stats: Stats, emit: Emit): void {
  emit.sample(sessions, { farm }, stats.total_sessions ?? stats.sessions?.length);
  const counts = new Map<string, Map<string, number>>();
  for (const backend of list) {
    const { service } = backend.labels;
    const known = closedState('backend', backend.status);
    const ofService = counts.get(service) ?? new Map(transitionStates.backend.map((state) => [state, 0]));
    counts.set(service, ofService.set(known, (ofService.get(known) ?? 0) + 1));
  }
  for (const [service, ofService] of counts) {
    for (const [state, count] of ofService) emit.sample(byStatus, { farm, service, status: state }, count);
  }
}

/** Family by family, what matters most first: over the series limit, the last ones are left out. */
function exposeBackends(all: readonly Backend[], compact: boolean, emit: Emit): void {
  const list = compact ? all.filter((each) => each.status === 'down' || each.status === 'maintenance') : all;
  for (const each of list) emit.state(status, each.labels, each.status);
  if (!compact) exposeNumbers(list, emit);
  for (const each of list)
    emit.info(info, { ...each.labels, id: each.id ?? '', ip: each.ip ?? '', port: each.port ?? '' });
}

function exposeNumbers(list: readonly Backend[], emit: Emit): void {
  for (const each of list) emit.sample(established, each.labels, each.established);
  for (const each of list) emit.sample(pending, each.labels, each.pending);
  // 0 means "no limit" (WIRE.md §3.6), and a share of it would mean nothing.
  for (const each of list) emit.sample(maxConnections, each.labels, each.max_conns || null);
  // Of a backend in a service, the farm configuration writes these; a series must not stand on the page twice.
  const withoutService = list.filter((each) => each.labels.service === '');
  for (const each of withoutService) emit.sample(weight, each.labels, each.weight);
  for (const each of withoutService) emit.sample(priority, each.labels, each.priority);
}
