/** A farm by the shape of its configuration; HTTPS is an HTTP farm with another listener, as on the appliance. */
export type Farm = HttpFarm | L4Farm | DatalinkFarm | GslbFarm | EproxyFarm;

interface FarmBase {
  name: string;
  vip: string;
  /** Digits, a list or ranges, or `*`; the interface name for datalink. */
  vport: string;
  running: boolean;
  /** A change waits for a restart. */
  needsRestart: boolean;
  /** `unreadable` makes the appliance print the number -1 for the status. */
  runState: 'readable' | 'unreadable';
}

export interface HttpFarm extends FarmBase {
  readonly profile: 'http';
  listener: 'http' | 'https';
  /** Set to make the appliance refuse every action, stop included: its own configuration test fails. */
  configError: string | undefined;
  settings: HttpSettings;
  certificates: string[];
  services: Service[];
  rules: Record<HeaderRuleKind, HeaderRule[]>;
}

export type HeaderRuleKind =
  | 'addheader'
  | 'headremove'
  | 'addresponseheader'
  | 'removeresponseheader'
  | 'replacerequestheader'
  | 'replaceresponseheader';

export type HeaderRule = Record<string, string>;

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

/** `undefined` is the word the appliance keeps for itself and prints as `up`, but for GSLB farms. */
export type BackendStatus = 'up' | 'down' | 'maintenance' | 'undefined';

interface BackendBase {
  id: number;
  ip: string;
  status: BackendStatus;
  established: number;
  pending: number;
}

export interface HttpBackend extends BackendBase {
  port: number;
  timeout: number | null;
  weight: number | null;
  priority: number;
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
}

export interface L4Backend extends BackendBase {
  /** Empty: the port that the client asked for. */
  port: number | '';
  weight: number;
  priority: number;
  maxConns: number;
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
  zones: GslbZone[];
  /** What the DNS daemon counts since its start. */
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

interface GslbZone {
  readonly id: string;
  defnamesv: string;
  resources: { id: number; rname: string; ttl: number | null; type: string; rdata: string }[];
}

/** The newest Enterprise line's own proxy; only its list entry and its backends are known (docs/api.md §3.6). */
export interface EproxyFarm extends FarmBase {
  readonly profile: 'eproxy';
  services: Service[];
}
