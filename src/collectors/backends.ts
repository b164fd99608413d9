import { backendStateWord, closedState, statesOf } from '../lib/states.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { Farm } from '../appliance/farm.ts';
import type { ReplyOf } from '../appliance/client.ts';
import { fitsSegment } from '../appliance/route.ts';
import { formatEndpoint } from '../lib/address.ts';
import { farmAreas, type PerFarmCollector } from './collector.ts';
import { backendObject } from './configured.ts';
import { waitedForProxyMs } from './farm-states.ts';
import { rowsOf } from './rows.ts';

export interface FarmBackends {
  readonly farm: string;
  /** Persistence sessions; undefined if the appliance does not report it. */
  readonly sessions: number | undefined;
  /** Undefined where an empty list does not mean that there are none, see {@link isInconclusive}. */
  readonly backends: readonly Backend[] | undefined;
}

export interface Backend {
  readonly farm: string;
  /** Empty where the farm has no services. */
  readonly service: string;
  /** The label of the metrics: `ip:port`, with `#id` where a service has the address twice. */
  readonly backend: string;
  readonly id: string;
  readonly ip: string;
  readonly port: string;
  /** A word of `statesOf.backend`, or one of the appliance that is not known. */
  readonly state: string;
  readonly established?: number | undefined;
  readonly pending: number | undefined;
  /** 0 means no limit. */
  readonly maxConnections: number | undefined;
  readonly weight: number | undefined;
  readonly priority: number | undefined;
}

const source = '(GET /stats/farms/{farmname}, for L4 GET /farms/{farmname}/backends';
const columns = {
  farm: ({ farm }: Backend) => farm,
  service: ({ service }: Backend) => service,
  backend: ({ backend }: Backend) => backend,
};
const farmRows = rowsOf((reading: FarmBackends) => [reading], { farm: ({ farm }) => farm });
const stateRows = rowsOf(countByState, {
  farm: ({ farm }) => farm,
  service: ({ service }) => service,
  status: ({ state }) => state,
});
const allRows = rowsOf(listOf, columns);
const listedRows = rowsOf(
  (reading: FarmBackends, { compact }) => (compact ? listOf(reading).filter(isInTrouble) : listOf(reading)),
  columns,
  { isDetail: true },
);
/** Numbers of every backend; none in compact mode. */
const numberRows = rowsOf((reading: FarmBackends, { compact }) => (compact ? [] : listOf(reading)), columns, {
  isDetail: true,
});
/**
 * For backends in a service the farm configuration writes these; a series must not be in the
 * exposition twice.
 */
const settingRows = rowsOf(
  (reading: FarmBackends, { compact }) => (compact ? [] : listOf(reading).filter(({ service }) => service === '')),
  columns,
  { isDetail: true },
);
const settingsSource = '(GET /farms/{farmname}/backends for L4, GET /farms/{farmname} for HTTP';
const weight = settingRows.gauge(
  'zlb_backend_weight',
  `Weight of a backend ${settingsSource}, weight).`,
  (each) => each.weight,
);
const priority = settingRows.gauge(
  'zlb_backend_priority',
  `Priority of a backend ${settingsSource}, priority).`,
  (each) => each.priority,
);

/**
 * The families that the farm configuration writes for HTTP farms, whose statistics do not have
 * them.
 */
export const backendSettingFamilies = { weight: weight.family, priority: priority.family } as const;

type Row = Partial<NonNullable<ReplyOf<'readFarmStats'>['backends']>[number]>;

/**
 * Names that the appliance's router keeps for itself under `/stats/farms`, and profiles without
 * statistics (docs/api.md §3.6).
 */
const unreachableNames = ['modules', 'total'];
const profilesWithoutStats = ['datalink'];

/**
 * Backends and sessions of each farm, from the reads whose backend states are true (docs/api.md
 * §3.6): statistics, and for an L4 farm its list, since its statistics may start a daemon and cut
 * all L4 farms (§1.7).
 */
export const backendsCollector: PerFarmCollector<FarmBackends> = {
  name: 'backends',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  refreshedBy: [...farmAreas, 'farmguardian'],
  covers: ({ name, profile, isSilent }) =>
    !isSilent && fitsSegment(name) && !unreachableNames.includes(name) && !profilesWithoutStats.includes(profile),
  // The configuration of the farm has those of its services.
  configuredObjects: ({ backends }) =>
    backends
      ?.filter(({ service }) => service === '')
      .map((each) => backendObject(each, { ...each, max_conns: each.maxConnections })),
  begin: () =>
    Promise.resolve(async (farm, { read, facts, safeFarmName }) => {
      const newest = (): Farm => facts.farms?.find(({ name }) => name === farm.name) ?? farm;
      const farmname = await safeFarmName(newest());
      let tookMs = 0;
      const onDuration = (ms: number): void => void (tookMs = ms);
      const stats = farmname && (await read('readFarmStats', { farmname }, { onDuration }));
      const rows = stats ? (stats.backends ?? []) : (await read('listFarmBackends', { farmname: farm.name })).params;
      // The list of farms may be newer than the run.
      const current = newest();
      const list = toBackends(current, rows);
      const backends = isInconclusive(current, list) ? undefined : list;
      if (stats && backends?.length === 0) requireAnswerOfProxy(stats, tookMs);
      // With a warning, 0 sessions are those that could not be read.
      const sessions = stats?.warning ? undefined : (stats?.total_sessions ?? stats?.sessions ?? undefined);
      return { farm: current.name, sessions, backends };
    }),
  entity: allRows.entity('backend', ({ state }) => state),
  families: [
    farmRows.gauge(
      'zlb_farm_sessions',
      'Persistence sessions of a farm; not read of an L4 farm (GET /stats/farms/{farmname}, total_sessions).',
      ({ sessions }) => sessions,
    ),
    stateRows.gauge('zlb_farm_backends', `Backends of a service by state ${source}, status).`, ({ count }) => count),
    listedRows.stateSet(
      'zlb_backend_status',
      `State of a backend; unknown while its farm is stopped, and always up in an L4 farm without health check ${source}, status).`,
      statesOf.backend,
      ({ state }) => state,
    ),
    numberRows.gauge(
      'zlb_backend_established_connections',
      'Connections to a backend in state established; not read of an L4 farm (GET /stats/farms/{farmname}, established).',
      ({ established }) => established,
    ),
    numberRows.gauge(
      'zlb_backend_pending_connections',
      'Half-open connections to the address of a backend, shared by all farms that use it; not read of an L4 farm (GET /stats/farms/{farmname}, pending).',
      ({ pending }) => pending,
    ),
    numberRows.gauge(
      'zlb_backend_max_connections',
      'Connection limit of an L4 backend; absent without one (GET /farms/{farmname}/backends, max_conns).',
      // 0 means "no limit", and a ratio to it would mean nothing.
      ({ maxConnections }) => maxConnections || null,
    ),
    weight,
    priority,
    listedRows.info('zlb_backend_info', `A backend and its address ${source}).`, {
      id: ({ id }) => id,
      ip: ({ ip }) => ip,
      port: ({ port }) => port,
    }),
  ],
};

function toBackends(farm: Farm, rows: readonly Row[]): readonly Backend[] {
  // Each row of a reply has its service as a text of its own.
  const services = new Map<string, string>();
  const list = rows.map(({ service: named, ...each }) => {
    const service = services.get(named ?? '') ?? named ?? '';
    services.set(service, service);
    return { ...each, service };
  });
  const clashes = clashingAddresses(list);
  return list.map((each) => ({
    farm: farm.name,
    service: each.service,
    backend: backendLabel(each, clashes),
    id: each.id ?? '',
    ip: each.ip ?? '',
    port: each.port ?? '',
    // Releases differ in what they list for a stopped farm; whatever it says, nobody checked.
    state: farm.state === 'down' ? 'unknown' : backendStateWord(each.status),
    established: each.established ?? undefined,
    pending: each.pending ?? undefined,
    maxConnections: each.max_conns ?? undefined,
    weight: each.weight ?? undefined,
    priority: each.priority ?? undefined,
  }));
}

/**
 * Returns true for an empty list of a farm that is stopped or of unknown state: appliances list no
 * backends of a stopped farm (docs/api.md §3.6).
 */
function isInconclusive({ state }: Farm, list: readonly Backend[]): boolean {
  return list.length === 0 && (state === 'down' || state === 'unknown');
}

/**
 * Throws for an empty list of a running farm whose proxy did not answer the appliance: it has a
 * warning, or came after the wait for a proxy that hangs (docs/api.md §3.6).
 */
function requireAnswerOfProxy({ warning }: ReplyOf<'readFarmStats'>, tookMs: number): void {
  if (!warning && tookMs < waitedForProxyMs) return;
  const endpoint = '/stats/farms/{farmname}';
  throw new ApplianceError(warning ? 'unavailable' : 'timeout', {
    endpoint,
    message: `GET ${endpoint}: no backends of a running farm, whose proxy does not answer the appliance`,
  });
}

function listOf({ backends }: FarmBackends): readonly Backend[] {
  return backends ?? [];
}

function isInTrouble({ state }: Backend): boolean {
  return state === 'down' || state === 'maintenance';
}

interface StateCount {
  readonly farm: string;
  readonly service: string;
  readonly state: string;
  readonly count: number;
}

/** Counts the backends of each service by state, zeros included. */
function countByState(reading: FarmBackends): readonly StateCount[] {
  const { farm } = reading;
  return [...Map.groupBy(listOf(reading), ({ service }) => service)].flatMap(([service, ofService]) =>
    statesOf.backend.map((state) => ({
      farm,
      service,
      state,
      count: ofService.filter((each) => closedState('backend', each.state) === state).length,
    })),
  );
}

interface Addressed {
  readonly service: string;
  readonly id?: string | null;
  readonly ip?: string | null;
  readonly port?: string | null;
}

/** Returns the `backend` label: `ip:port`, or `ip:port#id` if a service has the address twice. */
export function backendLabel(backend: Addressed, clashes: ReadonlySet<string>): string {
  const text = address(backend);
  return clashes.has(`${backend.service}\n${text}`) ? `${text}#${backend.id ?? ''}` : text;
}

export function clashingAddresses(backends: readonly Addressed[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const clashes = new Set<string>();
  for (const backend of backends) {
    const key = `${backend.service}\n${address(backend)}`;
    if (seen.has(key)) clashes.add(key);
    seen.add(key);
  }
  return clashes;
}

/** Returns the address; an L4 farm on all ports has backends without a port. */
function address({ ip, port }: Addressed): string {
  return formatEndpoint(ip ?? '', port);
}
