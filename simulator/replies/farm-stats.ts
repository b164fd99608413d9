import { type Call, type Handlers, json, notFound, type Reply } from '../call.ts';
import {
  allBackends,
  type Farm,
  type GslbFarm,
  type HttpBackend,
  type HttpFarm,
  type L4Backend,
  type L4Farm,
  type Service,
  shownStatus,
} from '../world-farms.ts';
import { hasApi402 } from '../world.ts';
import { backendConnections } from '../traffic.ts';
import { aliasIn, gslbBackends, l4Port, l4Sessions, listEntry, visibleFarms } from './farm-views.ts';
import { farmOf } from './find.ts';

/** Reads under /stats/farms (docs/api.md §3.5, §3.6). */
export const farmStatsHandlers: Handlers = {
  'GET /stats/farms': (call) =>
    json(200, {
      farms: visibleFarms(call)
        .filter(({ profile }) => profile !== 'datalink' || call.world.release === 'older')
        .map((farm) => ({ ...listEntry(farm), ...totals(call, farm) })),
    }),

  // A farm with one of these names cannot be read here (docs/api.md §3.6).
  'GET /stats/farms/modules': () => notFound('/stats/farms/modules'),
  'GET /stats/farms/total': () => notFound('/stats/farms/total'),

  'GET /stats/farms/{farmname}': statistics,
};

function totals(call: Call, farm: Farm) {
  if (farm.profile === 'datalink') return { established: null, pending: null };
  if (!farm.running) return { established: 0, pending: 0 };
  // L4xNAT counts only connections to backends that are up.
  const counted = allBackends(farm).filter(({ status }) => farm.profile !== 'l4xnat' || shownStatus(status) === 'up');
  const sum = (field: 'established' | 'pending') =>
    counted.reduce(
      (total, backend) => total + backendConnections(call.world, farm.name, backend, call.nowMs)[field],
      0,
    );
  return { established: sum('established'), pending: farm.profile === 'gslb' ? 0 : sum('pending') };
}

function statistics(call: Call): Reply {
  // 400 here, 404 under /farms (docs/api.md §3.6).
  const farm = farmOf(call, 400);
  switch (farm.profile) {
    case 'http':
      return httpStatistics(call, farm);
    case 'l4xnat':
      return withSessions(call, farm.running ? l4Rows(call, farm) : [], l4Sessions(call.world, farm));
    case 'gslb':
      return gslbStatistics(farm);
    case 'datalink':
      return notFound(`/stats/farms/${farm.name}`);
  }
}

function httpStatistics(call: Call, farm: HttpFarm): Reply {
  const isZproxy = call.world.proxy === 'zproxy';
  if (!farm.running || farm.runState === 'hung')
    return withSessions(call, [], [], isZproxy ? { warning: 'The sessions cannot be read.' } : {});
  const sessions = farm.services.flatMap((service) =>
    service.sessions.map(({ client, backend }) => {
      const { id = 0, ip = '', port = 0 } = service.backends.find((each) => each.id === backend) ?? {};
      const ofProxy = isZproxy ? { id: `${ip}-${port}`, ttl: '1m33s0ms' } : { id };
      return { session: client, service: service.id, ...ofProxy, backend_ip: ip, backend_port: port };
    }),
  );
  return withSessions(
    call,
    farm.services.flatMap((service) => httpRows(call, farm, service)),
    sessions.map((session, client) => ({ client, ...session })),
  );
}

function httpRows(call: Call, farm: Farm, service: Service) {
  return service.backends.map((backend) => ({
    ...rowOf(call, farm, backend),
    // Each product prints other types (docs/api.md §7).
    id: call.world.release === 'newest' || call.world.product === 'skudonet' ? String(backend.id) : backend.id,
    port: call.world.product === 'skudonet' ? String(backend.port) : backend.port,
    service: service.id,
  }));
}

function l4Rows(call: Call, farm: L4Farm) {
  return farm.backends.map((backend) => ({
    ...rowOf(call, farm, backend),
    id: backend.id,
    port: l4Port(call.world, backend.port),
    weight: backend.weight,
    priority: backend.priority,
    max_conns: backend.max_conns,
  }));
}

function rowOf({ world, nowMs }: Call, farm: Farm, backend: HttpBackend | L4Backend) {
  const { ip, status } = backend;
  const counters = backendConnections(world, farm.name, backend, nowMs);
  return { ip, status: shownStatus(status), ...counters, alias: aliasIn(world) };
}

function withSessions(
  { world }: Call,
  backends: readonly unknown[],
  sessions: readonly unknown[],
  more: object = {},
): Reply {
  // Older releases have no count (docs/api.md §3.6).
  const count = hasApi402(world) ? sessions.length : undefined;
  return json(200, { backends, sessions, total_sessions: count, ...more });
}

function gslbStatistics(farm: GslbFarm): Reply {
  // A stopped farm prints empty arrays for objects too (docs/api.md §3.6).
  if (!farm.running) return json(200, { backends: [], client: [], server: [], extended: [] });
  const backends = farm.services.flatMap((service) =>
    gslbBackends(farm, service).map((row) => ({ ...row, service: service.id })),
  );
  return json(200, { backends, ...farm.counters });
}
