import { activationCollector } from './activation.ts';
import { applianceCollector } from './appliance.ts';
import { backendsCollector } from './backends.ts';
import { backupsCollector } from './backups.ts';
import { certificatesCollector } from './certificates.ts';
import { clusterCollector } from './cluster.ts';
import type { Family } from '../metrics/family.ts';
import type { Collector } from './collector.ts';
import { connectionsCollector } from './connections.ts';
import { farmConfigCollector } from './farm-config.ts';
import { farmConnectionsCollector } from './farm-connections.ts';
import { farmsCollector } from './farms.ts';
import { interfacesCollector } from './interfaces.ts';
import { ipdsCollector } from './ipds.ts';
import { letsencryptCollector } from './letsencrypt.ts';
import { packagesCollector } from './packages.ts';
import { summaryCollector } from './summary.ts';
import { systemCollector } from './system.ts';
import { vipCollector } from './vip.ts';
import { vpnCollector } from './vpn.ts';

/**
 * All collectors, in the order of the exposition. At the limit of series, the first ones keep theirs.
 */
export const collectors: readonly Collector[] = [
  farmsCollector,
  applianceCollector,
  activationCollector,
  summaryCollector,
  certificatesCollector,
  backendsCollector,
  interfacesCollector,
  systemCollector,
  vpnCollector,
  clusterCollector,
  connectionsCollector,
  farmConnectionsCollector,
  farmConfigCollector,
  packagesCollector,
  backupsCollector,
  letsencryptCollector,
  ipdsCollector,
  vipCollector,
];

/**
 * The families of all collectors, in the order of the exposition; two collectors may write the same
 * one.
 */
export const collectorFamilies: readonly Family[] = [
  ...new Set(collectors.flatMap(({ families }) => families.map(({ family }) => family))),
];

/** The default settings of each collector, by name. */
export const collectorDefaults: ReadonlyMap<string, { schedule: string; maxStaleMs: number; enabled: boolean }> =
  new Map(collectors.map(({ name, schedule, maxStaleMs, enabled }) => [name, { schedule, maxStaleMs, enabled }]));
