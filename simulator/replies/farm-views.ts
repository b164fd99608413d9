import { seesFarm } from '../access.ts';
import type { Call } from '../call.ts';
import {
  type DatalinkFarm,
  type Farm,
  farmStatus,
  type GslbFarm,
  type HttpBackend,
  type HttpFarm,
  inListOrder,
  type L4Backend,
  type L4Farm,
  listedProfile,
  type Service,
  shownStatus,
} from '../world-farms.ts';
import { hasApi402, type World } from '../world.ts';

/** Returns the farms that a caller may see, in list order. */
export function visibleFarms({ world, user }: Call): readonly Farm[] {
  return inListOrder(world.farms.values()).filter((farm) => seesFarm(world, user, farm.name));
}

/** Returns one element of `GET /farms` (docs/api.md §3.7). */
export function listEntry(farm: Farm) {
  return {
    farmname: farm.name,
    profile: listedProfile(farm),
    status: farmStatus(farm),
    vip: farm.vip,
    vport: farm.vport,
  };
}

const enterpriseService = {
  cookieinsert: 'false',
  cookiename: '',
  cookiepath: '',
  cookiedomain: '',
  cookiettl: 0,
  redirect_code: '',
  sts_status: 'false',
  sts_timeout: '',
} as const;

/** The fields that zproxy adds to a service. */
const zproxyService = { pinnedconnection: 0, rewritelocation: 'disabled', routingpolicy: 'ROUND_ROBIN' } as const;

/** Returns one service with its backends (docs/api.md §3.9). */
export function serviceView(world: World, farm: HttpFarm, service: Service) {
  const { sessions: _sessions, ...settings } = service;
  const enterprise = world.edition === 'enterprise' ? enterpriseService : {};
  const ofProxy = world.proxy === 'zproxy' ? zproxyService : {};
  return { ...settings, ...enterprise, ...ofProxy, backends: httpBackends(world, farm, service) };
}

/** Returns the sessions of a service as zproxy has them. */
export function zproxySessions({ id: service, sessions }: Service) {
  return sessions.map(({ client, backend }) => ({
    id: backend,
    service,
    session: client,
    ttl: '1m33s0ms',
    type: 'dynamic',
  }));
}

/** Returns the backends of an HTTP service as the configuration has them, without counters. */
export function httpBackends(world: World, farm: HttpFarm, { backends }: Service) {
  const isZproxy = world.proxy === 'zproxy';
  return backends.map((backend) => ({
    id: backend.id,
    ip: backend.ip,
    port: backend.port,
    // zproxy is not there to be asked, and its API says `up` for what it does not know.
    status: isZproxy && !farm.running ? 'up' : shownStatus(backend.status),
    timeout: backend.timeout,
    weight: backend.weight,
    priority: isZproxy || world.release === 'newest' ? backend.priority : undefined,
    alias: aliasIn(world),
    ...(isZproxy && { connection_limit: null, tag: tagOf(world, backend) }),
  }));
}

/** Returns the number of a backend among those of all HTTP farms, with which zproxy marks packets. */
function tagOf({ farms }: World, backend: HttpBackend): number {
  const all = [...farms.values()].flatMap((farm) =>
    farm.profile === 'http' ? farm.services.flatMap(({ backends }) => backends) : [],
  );
  return 512 + all.indexOf(backend);
}

/** Returns null, the alias of every backend. The Community Edition prints none. */
export function aliasIn(world: World): null | undefined {
  return world.edition === 'enterprise' ? null : undefined;
}

/** Returns the port as the release prints it: older ones print text (docs/api.md §2.4). */
export function l4Port(world: World, port: L4Backend['port']): number | string {
  return world.release === 'newest' ? port : String(port);
}

/** Returns the backends of an L4xNAT or datalink farm as the configuration has them. */
export function flatBackends(world: World, farm: L4Farm | DatalinkFarm) {
  if (farm.profile === 'datalink') {
    return farm.backends.map(({ id, ip, interface: nic, weight, priority, status }) => ({
      id,
      ip,
      interface: nic,
      weight,
      priority,
      status: shownStatus(status),
      alias: aliasIn(world),
    }));
  }
  return farm.backends.map(({ id, ip, port, status, weight, priority, max_conns }) => ({
    id,
    ip,
    port: l4Port(world, port),
    status: shownStatus(status),
    weight,
    priority,
    max_conns,
    alias: aliasIn(world),
  }));
}

const tlsSetting = /^(?:cipher|disable_)/;

const headerRules = { addheader: [], headremove: [], addresponseheader: [], removeresponseheader: [] };

/** Returns `params` of one HTTP farm. Only HTTPS farms have the TLS part. */
export function httpParams(world: World, farm: HttpFarm) {
  const isHttps = farm.listener === 'https';
  const settings = Object.entries(farm.settings).filter(([name]) => isHttps || !tlsSetting.test(name));
  // A farm without its certificate prints a number instead of a name (docs/api.md §3.9).
  const files = farm.certificates.length > 0 ? farm.certificates : [-1];
  return {
    status: farmStatus(farm),
    vip: farm.vip,
    vport: Number(farm.vport),
    listener: farm.listener,
    ...Object.fromEntries(settings),
    certlist: isHttps ? files.map((file, index) => ({ file, id: index + 1 })) : undefined,
    ...headerRules,
    ...(world.proxy === 'zproxy' && { replacerequestheader: [], replaceresponseheader: [] }),
  };
}

/** Returns `params` of one L4xNAT farm, with all sessions. */
export function l4Params(world: World, farm: L4Farm) {
  const { protocol, nattype, algorithm, persistence, ttl, farmguardian, vip, vport } = farm;
  return {
    status: farmStatus(farm),
    vip,
    vport,
    listener: 'l4xnat',
    protocol,
    nattype,
    algorithm,
    persistence,
    ttl,
    farmguardian,
    sessions: l4Sessions(world, farm),
    logs: world.edition === 'enterprise' ? 'false' : undefined,
  };
}

/**
 * Returns `sessions[]` of an L4xNAT farm, which is empty while it is stopped. `ttl` came with 4.0.2
 * (docs/api.md §3.6).
 */
export function l4Sessions(world: World, { running, sessions, backends }: L4Farm) {
  if (!running) return [];
  return sessions.map(({ client, backend, type, ttlMs }, index) => {
    const target = backends.find(({ id }) => id === backend);
    return {
      client: index,
      id: String(backend),
      session: client,
      type,
      ttl: hasApi402(world) ? ttlText(ttlMs) : undefined,
      backend_ip: target?.ip ?? '',
      backend_port: target ? l4Port(world, target.port) : '',
    };
  });
}

function ttlText(ms: number | null): string | null {
  if (ms === null) return null;
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s${ms % 1_000}ms`;
}

/** Returns the answer for a GSLB farm, without its description. */
export function gslbView(world: World, farm: GslbFarm) {
  return {
    params: { status: farmStatus(farm), vip: farm.vip, vport: Number(farm.vport) },
    services: farm.services.map((service) => ({
      id: service.id,
      algorithm: service.algorithm,
      deftcpport: service.deftcpport,
      farmguardian: service.farmguardian,
      backends: gslbBackends(farm, service),
    })),
    ipds: ipdsOf(world, farm.name),
  };
}

/**
 * Returns the backends of a GSLB service. All are `undefined` while the farm is stopped
 * (docs/api.md §2.2).
 */
export function gslbBackends(farm: GslbFarm, { backends, deftcpport }: GslbFarm['services'][number]) {
  return backends.map(({ id, ip, status }) => ({
    alias: null,
    id,
    ip,
    port: deftcpport,
    status: farm.running ? status : 'undefined',
  }));
}

/** Returns the protection rules of a farm, by kind. Only HTTP farms have `waf` rules. */
export function ipdsOf(world: World, farm: string) {
  const linked = (rule: string) =>
    [...world.ipds.values()]
      .filter((entry) => entry.rule === rule && entry.farms.includes(farm))
      .map(({ name, status }) => ({ name, status }));
  return { dos: linked('dos'), blacklists: linked('blacklist'), rbl: linked('rbl'), waf: linked('waf') };
}
