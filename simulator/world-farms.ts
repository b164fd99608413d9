import type { StoredCertificate } from './world-certificates.ts';

/** A farm, by profile. An HTTPS farm is an HTTP farm with another listener, as on the appliance. */
export type Farm = HttpFarm | L4Farm | DatalinkFarm | GslbFarm;

interface FarmBase {
  name: string;
  vip: string;
  /** Digits, a list or ranges, or `*`; the interface name for datalink. */
  vport: string;
  running: boolean;
  /** True while a change waits for a restart. */
  needsRestart: boolean;
  /**
   * `unreadable`: the appliance prints the number -1 as the status. `hung`: its proxy does not
   * answer the appliance; hung-proxy.ts has the times.
   */
  runState: 'readable' | 'unreadable' | 'hung';
  /** Processes that calls without an answer have left on the appliance; they stay while it hangs. */
  leftProcesses?: number;
}

export interface HttpFarm extends FarmBase {
  readonly profile: 'http';
  listener: 'http' | 'https';
  /**
   * The error of the appliance's configuration test, with which it refuses every action, also stop.
   */
  configError: string | undefined;
  settings: HttpSettings;
  /** Files of the store. */
  certificates: string[];
  /** The certificates of its last start, which it presents until the next one. */
  loaded?: readonly StoredCertificate[];
  services: Service[];
}

export interface HttpSettings {
  contimeout: number;
  restimeout: number;
  reqtimeout: number;
  resurrectime: number;
  rewritelocation: string;
  httpverb: string;
  logs: string;
  ignore_100_continue: string;
  error414: string;
  error500: string;
  error501: string;
  error503: string;
  ciphers: string;
  cipherc: string;
  disable_sslv2: string;
  disable_sslv3: string;
  disable_tlsv1: string;
  disable_tlsv1_1: string;
  disable_tlsv1_2: string;
  /** SKUDONET alone has it. */
  disable_tlsv1_3?: string;
}

export interface Service {
  readonly id: string;
  vhost: string;
  urlp: string;
  redirect: string;
  redirecttype: string;
  persistence: string;
  ttl: number;
  sessionid: string;
  leastresp: string;
  httpsb: string;
  farmguardian: string | null;
  backends: HttpBackend[];
  sessions: HttpSession[];
}

/** `undefined` is the appliance's own word; it prints `up` for it, except in GSLB farms. */
export type BackendState = 'up' | 'down' | 'maintenance' | 'undefined';

interface BackendBase {
  id: number;
  ip: string;
  status: BackendState;
  /** The state after a fault that keeps it down. */
  statusAfter?: BackendState | undefined;
  established: number;
  pending: number;
}

export interface HttpBackend extends BackendBase {
  port: number;
  timeout: number | null;
  weight: number | null;
  /** zproxy has none unless it is set. */
  priority: number | null;
}

interface HttpSession {
  client: string;
  backend: number;
}

export interface L4Farm extends FarmBase {
  readonly profile: 'l4xnat';
  protocol: string;
  nattype: string;
  algorithm: string;
  persistence: string;
  ttl: number;
  farmguardian: string | null;
  backends: L4Backend[];
  sessions: L4Session[];
  /** True once its daemon has started without its rules: its clients are refused. */
  hasNoRules?: boolean;
  /** True while the pid file of its daemon is gone: it says that it is down. */
  lostPid?: boolean;
}

export interface L4Backend extends BackendBase {
  /** Empty: the port that the client asked for. */
  port: number | '';
  weight: number;
  priority: number;
  max_conns: number;
}

interface L4Session {
  client: string;
  backend: number;
  type: 'static' | 'dynamic';
  /** Milliseconds left; null for a static one. */
  ttlMs: number | null;
}

export interface DatalinkFarm extends FarmBase {
  readonly profile: 'datalink';
  algorithm: string;
  backends: DatalinkBackend[];
}

export interface DatalinkBackend extends BackendBase {
  interface: string;
  weight: number;
  priority: number;
}

export interface GslbFarm extends FarmBase {
  readonly profile: 'gslb';
  services: GslbService[];
  /** The counters of the DNS daemon since its start. */
  counters: { client: Record<string, number>; server: Record<string, number>; extended: Record<string, number> };
}

interface GslbService {
  readonly id: string;
  algorithm: string;
  deftcpport: number;
  farmguardian: string | null;
  /** Ids begin at 1. */
  backends: BackendBase[];
}

/** A word of docs/api.md §2.1, or the number of a run state that the appliance cannot read. */
export type FarmState = 'down' | 'needed restart' | 'critical' | 'problem' | 'maintenance' | 'up' | -1;

/**
 * Derives the status word in the order of docs/api.md §2.1; the backends of all services count
 * together.
 */
export function farmStatus(farm: Farm): FarmState {
  if (farm.runState === 'unreadable') return -1;
  if (!farm.running || ('lostPid' in farm && farm.lostPid)) return 'down';
  if (farm.runState === 'hung') return 'critical';
  if (farm.needsRestart) return 'needed restart';
  const words = allBackends(farm).map((backend) => shownStatus(backend.status));
  const serves = words.includes('up') || hasRedirect(farm);
  if (!serves) return 'critical';
  if (words.includes('down')) return 'problem';
  return words.includes('maintenance') ? 'maintenance' : 'up';
}

/** Returns the word for a backend outside GSLB: an unknown state is `up` (docs/api.md §2.2). */
export function shownStatus(status: BackendState): BackendState {
  return status === 'undefined' ? 'up' : status;
}

/**
 * Returns the profile as lists print it. Summaries print `http` for HTTPS farms as well
 * (docs/api.md §3.8).
 */
export function listedProfile(farm: Farm): string {
  return farm.profile === 'http' ? farm.listener : farm.profile;
}

/** Returns all backends of a farm, also those of its services. */
export function allBackends(
  farm: Farm,
): readonly { status: BackendState; established: number; pending: number; ip: string }[] {
  return 'services' in farm
    ? farm.services.flatMap((service): BackendOf<typeof farm>[] => service.backends)
    : farm.backends;
}

type BackendOf<F extends Extract<Farm, { services: unknown }>> = F['services'][number]['backends'][number];

function hasRedirect(farm: Farm): boolean {
  return farm.profile === 'http' && farm.services.some((service) => service.redirect !== '');
}

const profileOrder = ['http', 'datalink', 'l4xnat', 'gslb'];

/** Sorts farms as the appliance lists them: by profile, then by name. */
export function inListOrder(farms: Iterable<Farm>): readonly Farm[] {
  return [...farms].sort(
    (a, b) => profileOrder.indexOf(a.profile) - profileOrder.indexOf(b.profile) || (a.name < b.name ? -1 : 1),
  );
}

/** Returns the names of the L4 farms that do not take TCP. */
export function farmsWithoutTcp(farms: Iterable<Farm>): readonly string[] {
  return [...farms].filter((farm) => farm.profile === 'l4xnat' && farm.protocol !== 'tcp').map(({ name }) => name);
}
