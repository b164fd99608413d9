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
import { farms } from './farms.ts';
import { interfaces } from './interfaces.ts';
import { ipds } from './ipds.ts';
import { packages } from './packages.ts';
import { summary } from './summary.ts';
import { system } from './system.ts';
import { vpn } from './vpn.ts';

/** All collectors, in the order of their first run, of their priority when an appliance is short of time, and of the page. */
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
  farmConfig,
  packages,
  backups,
  ipds,
];

/** The families of all collectors, in the order of the page; two collectors may write the same one. */
export const collectorFamilies: readonly Family[] = [
  ...new Set(collectors.flatMap(({ families }) => families.map(({ family }) => family))),
];
