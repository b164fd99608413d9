// The states that tests, the demonstration and `simulate` start from.
export { busyWorld } from './scenes/busy.ts';
export { healthyPair } from './scenes/cluster.ts';
export { deactivatedWorld } from './scenes/deactivated.ts';
export { emptyCommunityWorld } from './scenes/empty.ts';
export { expiringWorld } from './scenes/expiring.ts';
export { largeWorld } from './scenes/large.ts';
export { olderEnterpriseWorld } from './scenes/older.ts';
export { recordedWorld } from './recorded-world.ts';
