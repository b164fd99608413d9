import { seesFarm } from '../access.ts';
import type { Call } from '../call.ts';
import {
  type DatalinkFarm,
  type Farm,
  farmStatus,
  type GslbFarm,
  type HttpFarm,
  inListOrder,
  type L4Backend,
  type L4Farm,
  listedProfile,
  type Service,
  shownStatus,
} from '../world-farms.ts';
import type { World } from '../world.ts';

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

/** Returns one service with its backends (docs/api.md §3.9). */
export function serviceView(world: World, service: Service) {
  const { sessions: _sessions, backends: _backends, ...settings } = service;
  const enterprise =
    world.edition === 'enterprise'
      ? {
          cookieinsert: 'false',
          cookiename: '',
          cookiepath: '',
          cookiedomain: '',
          cookiettl: 0,
          redirect_code: '',
          sts_status: 'false',
          sts_timeout: '',
        }
      : {};
  return { ...settings, ...enterprise, backends: httpBackends(world, service) };
}

/** Returns the backends of an HTTP service as the configuration has them, without counters. */
export function httpBackends(world: World, { backends }: Service) {
  return backends.map(({ id, ip, port, status, timeout, weight, priority }) => ({
    id,
    ip,
    port,
    status: shownStatus(status),
    timeout,
    weight,
    ...(world.release === 'newest' ? { priority } : {}),
    ...alias(world),
  }));
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
      ...alias(world),
    }));
  }
  return farm.backends.map(({ id, ip, port, status, weight, priority, maxConns }) => ({
    id,
    ip,
    port: l4Port(world, port),
    status: shownStatus(status),
    weight,
    priority,
    max_conns: maxConns,
    ...alias(world),
  }));
}

/** Returns `params` of one HTTP farm. Only HTTPS farms have the TLS part. */
export function httpParams(farm: HttpFarm) {
  const {
    ciphers,
    cipherc,
    disable_sslv2,
    disable_sslv3,
    disable_tlsv1,
    disable_tlsv1_1,
    disable_tlsv1_2,
    ...settings
  } = farm.settings;
  const tls = {
    // A farm without its certificate prints a number instead of a name (docs/api.md §3.9).
    certlist: (farm.certificates.length > 0 ? farm.certificates : [-1]).map((file, index) => ({ file, id: index + 1 })),
    ciphers,
    cipherc,
    disable_sslv2,
    disable_sslv3,
    disable_tlsv1,
    disable_tlsv1_1,
    disable_tlsv1_2,
  };
  return {
    status: farmStatus(farm),
    vip: farm.vip,
    vport: Number(farm.vport),
    listener: farm.listener,
    ...settings,
    addheader: numbered(farm.rules.addheader),
    headremove: numbered(farm.rules.headremove),
    addresponseheader: numbered(farm.rules.addresponseheader),
    removeresponseheader: numbered(farm.rules.removeresponseheader),
    ...(farm.listener === 'https' ? tls : {}),
  };
}

/** Returns `params` of one L4xNAT farm, with all sessions. */
export function l4Params(world: World, farm: L4Farm) {
  const { protocol, nattype, algorithm, persistence, ttl, farmguardian, vip, vport } = farm;
  const enterprise = world.edition === 'enterprise' ? { logs: 'false' } : {};
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
    sessions: farm.running ? l4Sessions(world, farm) : [],
    ...enterprise,
  };
}

/** Returns `sessions[]` of an L4xNAT farm. `ttl` came with 4.0.2 (docs/api.md §3.6). */
export function l4Sessions(world: World, { sessions, backends }: L4Farm) {
  return sessions.map(({ client, backend, type, ttlMs }, index) => {
    const target = backends.find(({ id }) => id === backend);
    return {
      client: index,
      id: String(backend),
      session: client,
      type,
      ...(world.release === 'newest' ? { ttl: ttlMs === null ? null : ttlText(ttlMs) } : {}),
      backend_ip: target?.ip ?? '',
      backend_port: target ? l4Port(world, target.port) : '',
    };
  });
}

function alias(world: World) {
  return world.edition === 'enterprise' ? { alias: null } : {};
}

function numbered(rules: readonly Readonly<Record<string, string>>[]) {
  return rules.map((rule, id) => ({ id, ...rule }));
}

function ttlText(ms: number): string {
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
    zones: farm.zones,
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
