import { activation } from './activation.ts';
import { appliance } from './appliance.ts';
import { backends } from './backends.ts';
import { backups } from './backups.ts';
import { certificates } from './certificates.ts';
import { cluster } from './cluster.ts';
import type { Family } from '../metrics/family.ts';
import type { Collector } from './collector.ts';
import { connectionTable } from './connections.ts';
import { farmConfig } from './farm-config.ts';
import { farmConnections } from './farm-connections.ts';
import { farms } from './farms.ts';
import { interfaces } from './interfaces.ts';
import { ipds } from './ipds.ts';
import { letsencrypt } from './letsencrypt.ts';
import { packages } from './packages.ts';
import { summary } from './summary.ts';
import { system } from './system.ts';
import { vip } from './vip.ts';
import { vpn } from './vpn.ts';

/**
 * All collectors, in the order of their first run, of their priority when an appliance is short of
 * time, and of the exposition.
 */
export const collectors: readonly Collector[] = [
  farms,
  appliance,
  activation,
  summary,
  certificates,
  backends,
  interfaces,
  system,
  vpn,
  cluster,
  connectionTable,
  farmConnections,
  farmConfig,
  packages,
  backups,
  letsencrypt,
  ipds,
  vip,
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
