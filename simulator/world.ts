import type { AcmeCertificate, StoredCertificate } from './world-certificates.ts';
import type { Farm } from './world-farms.ts';

/**
 * `newest` is the RELIANOID line; `older` the ZEVENET and SKUDONET builds: Enterprise with API
 * 4.0.1, by the manual (docs/api.md §7), and Community with 4.0.2, as recorded.
 */
export type Release = 'newest' | 'older';

/**
 * The whole state of one simulated appliance: plain data that handlers and tests read and change in
 * place.
 */
export interface World {
  readonly edition: 'community' | 'enterprise';
  readonly release: Release;
  /** Decides the version keys of an older release: `zevenet_version` or `skudonet_version`. */
  readonly product: 'relianoid' | 'zevenet' | 'skudonet';
  /** The proxy of HTTP farms. ZEVENET CE 5.13 has zproxy by default. */
  readonly proxy: 'pound' | 'zproxy';
  hostname: string;
  productVersion: string;
  applianceVersion: string;
  kernelVersion: string;
  platform: string | null;
  language: string;
  readonly farms: Map<string, Farm>;
  readonly l4Daemon: L4Daemon;
  readonly certificates: Map<string, StoredCertificate>;
  /** Certificates of the store that the appliance obtains itself, by the name of their lineage. */
  readonly acme: Map<string, AcmeCertificate>;
  readonly interfaces: Map<string, NetworkInterface>;
  readonly farmguardians: Map<string, Farmguardian>;
  readonly backups: Map<string, Backup>;
  readonly vpns: Map<string, Vpn>;
  /** Keyed by login. `root` always exists; its key is the one of the appliance's start. */
  readonly users: Map<string, User>;
  readonly groups: Map<string, Group>;
  readonly ipds: Map<string, IpdsRule>;
  /** The receiver of its system log; undefined if there is none. */
  remoteSyslog: { readonly ip: string; readonly port: number } | undefined;
  readonly load: SystemLoad;
  readonly settings: SystemSettings;
  activation: Activation;
  packages: Packages;
  /** Absent: no cluster is configured. */
  cluster: Cluster | undefined;
  /** Entries of the connection table beyond those of the farms. */
  otherConnections: number;
  /**
   * True if connections and CPU change with the clock around the figures given here. Counters
   * always grow.
   */
  moving: boolean;
  /** Milliseconds at the start of the traffic counters; undefined until the first read of them. */
  countingSinceMs: number | undefined;
  /** Restarts the machine: the traffic counters begin at zero again. */
  reboot(): void;
}

/**
 * The daemon of L4 farms, nftlb, and its faults, as measured on RELIANOID CE 7.9.0, SKUDONET CE
 * 7.1.0 and ZEVENET CE 5.13 (docs/api.md §1.7). Its death changes no state and cuts nobody; its
 * start empties the rules of all L4 farms, of which no read tells.
 */
export interface L4Daemon {
  state: 'running' | 'dead' | 'hung';
  /** Processes that calls without an answer have left on the appliance. */
  leftProcesses: number;
  /** Farms whose start waits for the daemon while it hangs. */
  readonly startsLater: Set<string>;
}

/** True from API 4.0.2 on. */
export function hasApi402({ edition, release }: World): boolean {
  return release === 'newest' || edition === 'community';
}

/** True for the newest Community release, which has quirks of its own. */
export function isNewestCommunity({ edition, release }: World): boolean {
  return edition === 'community' && release === 'newest';
}

export interface NetworkInterface {
  readonly name: string;
  readonly type: 'nic' | 'vlan' | 'virtual';
  /** The interface below a VLAN or virtual interface. */
  readonly parent?: string;
  ip: string;
  netmask: string;
  gateway: string;
  mac: string;
  status: 'up' | 'down';
  alias: string | null;
  /**
   * MiB received and sent at the start of the counters, and their growth a second. Virtual
   * interfaces have none.
   */
  readonly traffic?: { received: number; sent: number; receivedPerSecond: number; sentPerSecond: number };
}

/** A health check, with the names and words of the API. */
export interface Farmguardian {
  readonly name: string;
  description: string;
  command: string;
  interval: number;
  timeout: number;
  cut_conns: string;
  log: string;
  backend_alias: string;
  readonly template: boolean;
}

export interface Backup {
  readonly name: string;
  /** Milliseconds. */
  createdAt: number;
  version: string;
}

export interface Vpn {
  readonly name: string;
  readonly profile: 'site_to_site' | 'tunnel' | 'remote_access';
  status: string;
  /** Shown with the VPN, the shared secret included. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface User {
  readonly name: string;
  /** Replaced by the appliance's own key for root. */
  key: string;
  /** The key works only while this is true. */
  enabled: boolean;
  password: string;
  /** RBAC group (Enterprise). Root needs none. */
  group?: string;
}

export interface Group {
  readonly name: string;
  /** Section to allowed actions, such as `{ farm: ['create', 'action'] }`. */
  readonly role: Record<string, readonly string[]>;
  /** Farm names, or `*` for all. */
  readonly farms: string[];
  readonly interfaces: string[];
}

export interface IpdsRule {
  readonly name: string;
  readonly rule: 'dos' | 'blacklist' | 'rbl' | 'waf';
  status: 'up' | 'down';
  readonly farms: string[];
}

interface SystemLoad {
  cores: number;
  /** Percent of each mode except idle. */
  cpu: { user: number; nice: number; sys: number; iowait: number; irq: number; softirq: number };
  load: readonly [number, number, number];
  /** MiB, by the words of the API. */
  memory: Readonly<Record<string, number>>;
}

interface SystemSettings {
  /** Undefined before SNMP was ever set, on older releases. */
  snmpCommunity: string | undefined;
}

/** A licence and the reason to refuse it (docs/api.md §3.19); Enterprise only. */
interface Activation {
  installed: InstalledLicence | undefined;
  /** The machine's identifier in the 402 body. */
  certificateKey: string;
  /**
   * The sentence with which a licence is refused although it is in date; undefined if it is
   * accepted.
   */
  refusedBecause: string | undefined;
}

export interface InstalledLicence {
  kind: 'permanent' | 'temporal';
  hostname: string;
  /** Milliseconds. */
  notBefore: number;
  notAfter: number;
}

interface Packages {
  status: 'Updated' | 'Updates available' | 'unknown';
  packages: readonly string[];
  last_check: string;
}

export interface Cluster {
  interface: string;
  check_interval: number;
  failback: string;
  readonly nodes: ClusterNode[];
}

export interface ClusterNode {
  readonly name: string;
  readonly ip: string;
  readonly node: 'local' | 'remote';
  role: string;
  status: string;
  message: string;
}
