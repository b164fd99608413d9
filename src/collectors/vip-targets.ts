import { isIP } from 'node:net';
import { type Farm, hasProxy } from '../appliance/farm.ts';
import { blockListOf, formatEndpoint, isIn, parseEndpoint } from '../lib/address.ts';
import type { Certificate } from './certificates.ts';
import type { VipSettings } from './collector.ts';
import type { FarmConfig } from './farm-config.ts';

/** The farms of an appliance, with their configuration and certificates. */
export interface ProbeInputs {
  readonly farms: readonly Farm[];
  /** True for a farm to probe though the list does not say that it runs. */
  readonly ranRecently?: (farm: string) => boolean;
  readonly configOf: (farm: string) => FarmConfig | undefined;
  readonly certificates: readonly Certificate[] | undefined;
  /** Returns what the last probe of a farm rested on, for readings that are away. */
  readonly lastKnown?: (farm: string) => ProbeBasis | undefined;
}

/** The facts from which the target of a probe was chosen. */
export interface ProbeBasis {
  readonly listed: Farm;
  readonly config: FarmConfig | undefined;
  readonly serverNames: readonly string[];
  /** True if the farm has accepted a connection at this address. */
  readonly hasAccepted?: boolean;
}

interface Destination {
  readonly address: string;
  readonly port: number;
}

/** A farm to probe. */
export interface VipTarget {
  readonly farm: string;
  readonly basis: ProbeBasis;
  /** As the appliance reported them. */
  readonly vip: string;
  readonly vport: string;
  /** The address and port of the destination, also of one that is not allowed. */
  readonly address: string;
  /** The destination; undefined if it is not allowed. */
  readonly endpoint: Destination | undefined;
  /** One TLS handshake for each, an empty name for one without a name; without any, TCP alone. */
  readonly serverNames: readonly string[];
  /**
   * True if a failure says nothing before a connection has succeeded once: an L4 farm may be one for
   * UDP, and a farm may be unreachable from here.
   */
  readonly isUnproven: boolean;
  /** The certificates of the store that the farm presents; undefined while they are not known. */
  readonly stored: readonly Certificate[] | undefined;
}

/** An appliance could report thousands. */
export const maxNames = 20;

/**
 * Decides which farms are probed and what may be connected to: the addresses of TCP farms that run
 * or did within a day, but nothing reserved, since an appliance may report any address.
 * `localAddresses` are those of this machine.
 */
export function vipTargets(
  inputs: ProbeInputs,
  settings: VipSettings,
  localAddresses: readonly string[],
): readonly VipTarget[] {
  const named = blockListOf(settings.networks);
  const excludedByDefault = settings.l4Only ? documentNetworks : [];
  const reserved = blockListOf([...reservedNetworks, ...excludedByDefault, ...localAddresses]);
  const connectTo = new Map(Object.entries(settings.connectTo));
  const namesOf = new Map(Object.entries(settings.serverNames));

  function endpointOf(vip: string, port: number): Destination | undefined {
    if (isIP(vip) === 0 || (settings.networks.length > 0 && !isIn(named, vip))) return undefined;
    const instead = connectTo.get(formatEndpoint(vip, port)) ?? connectTo.get(vip);
    const { address = vip, port: other = port } = (instead !== undefined && parseEndpoint(instead)) || {};
    return isIn(reserved, address) && !isIn(named, address) ? undefined : { address, port: other };
  }

  return inputs.farms.flatMap((farm) => {
    if (!isWanted(farm, settings)) return [];
    const { name, profile, vip = '', vport = '' } = farm;
    const last = inputs.lastKnown?.(name);
    const current = inputs.configOf(name);
    const config = current ?? last?.config;
    const port = firstPort(vport);
    const protocol = protocolOf(farm, config, settings.udpFarms);
    if (port === undefined || !(isRunning(farm) || inputs.ranRecently?.(name)) || protocol === 'other') return [];
    const isAt = (other: Farm): boolean => other.vip === vip && other.vport === vport;
    // Only their protocols tell two farms at one address apart.
    if (protocol === 'unknown' && inputs.farms.filter(isAt).length > 1) return [];
    const hasAccepted = last?.hasAccepted === true && isAt(last.listed);
    const stored = storedOf(current, inputs.certificates);
    const ownNames = (): readonly string[] => (stored || !last ? namesIn(stored ?? []) : last.serverNames);
    const serverNames = namesOf.get(name) ?? (profile === 'https' ? ownNames() : []);
    const endpoint = endpointOf(vip, port);
    if (!endpoint && settings.l4Only) return [];
    const shown = endpoint ?? { address: vip, port };
    const address = formatEndpoint(shown.address, shown.port);
    const isUnproven = (protocol === 'unknown' || settings.l4Only === true) && !hasAccepted;
    const now: ProbeBasis = { listed: farm, config, serverNames, hasAccepted };
    return [{ farm: name, basis: now, vip, vport, address, endpoint, serverNames, isUnproven, stored }];
  });
}

/** Returns false for farms that are not probed unless the configuration says so. */
export function isWanted({ profile }: Pick<Farm, 'profile'>, { l4Only }: Pick<VipSettings, 'l4Only'>): boolean {
  return !l4Only || profile === 'l4xnat';
}

/** A farm that is said to be down is probed so long: its clients may still be served. */
const probedAfterRunMs = 86_400_000;

/**
 * Returns when each farm last ran by the word of its appliance, with what was known before; without
 * those that did not run within the last day. `listed` is undefined while the list is away: nothing
 * ran then as far as is known.
 */
export function lastRuns(
  listed: readonly Farm[] | undefined,
  before: ReadonlyMap<string, number>,
  nowElapsedMs: number,
): ReadonlyMap<string, number> {
  const runs = listed
    ? listed.map((farm) => [farm.name, isRunning(farm) ? nowElapsedMs : before.get(farm.name)] as const)
    : [...before];
  return new Map(
    runs.flatMap(([name, ranAtElapsedMs]) =>
      ranAtElapsedMs !== undefined && nowElapsedMs - ranAtElapsedMs < probedAfterRunMs ? [[name, ranAtElapsedMs]] : [],
    ),
  );
}

/** Ranges in which no farm has clients, but services of this machine or network may answer. */
const reservedNetworks = [
  '0.0.0.0/8', // unspecified
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and the metadata of a cloud
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '::/96', // unspecified, loopback, and the old form of IPv4 addresses
  'fe80::/10', // link-local
  'ff00::/8', // multicast
  '64:ff9b::/96', // any IPv4 address, these too
  '64:ff9b:1::/48',
  '2002::/16',
  // Metadata of clouds at addresses of other ranges.
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
];

/** Addresses for documents (RFC 5737, RFC 3849), which no farm has unless somebody says so. */
const documentNetworks = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'];

/** Returns true for a state in which a farm has a listener (docs/api.md §2.1). */
function isRunning({ state, isSilent }: Farm): boolean {
  return state !== 'down' && (state !== 'unknown' || isSilent === true);
}

/** The protocol of an L4 farm is read only where its daemon may be asked (docs/api.md §1.7). */
function protocolOf(
  farm: Farm,
  config: FarmConfig | undefined,
  udpFarms: VipSettings['udpFarms'],
): 'tcp' | 'other' | 'unknown' {
  if (hasProxy(farm.profile)) return 'tcp';
  if (farm.profile !== 'l4xnat') return 'other';
  if (config?.protocol !== undefined) return config.protocol === 'tcp' ? 'tcp' : 'other';
  if (udpFarms) return udpFarms.includes(farm.name) ? 'other' : 'tcp';
  return 'unknown';
}

/** Returns the first port of a list or range; undefined for all ports and for an interface. */
function firstPort(vport: string): number | undefined {
  const port = Number(/^\d{1,5}(?=$|[:,])/.exec(vport)?.[0]);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function storedOf(
  config: FarmConfig | undefined,
  certificates: readonly Certificate[] | undefined,
): readonly Certificate[] | undefined {
  const files = config?.certificates && new Set(config.certificates);
  return files && certificates?.filter(({ file }) => files.has(file));
}

/** Returns the common names that a client may ask for; an empty name if there is none. */
function namesIn(stored: readonly Certificate[]): readonly string[] {
  const names = stored
    // A client never asks for the wildcard itself.
    .map(({ commonName }) => commonName.replace(/^\*\./, 'www.').toLowerCase())
    .filter((name) => /^(?=.{1,253}$)(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name));
  return names.length === 0 ? [''] : [...new Set(names)].slice(0, maxNames);
}
