import { byName, createWorld } from '../world-creation.ts';
import { farmguardian } from '../world-parts.ts';
import type { World } from '../world.ts';
import { card } from './parts.ts';

/** A Community appliance fresh from its installation: one card and nothing to balance. */
export function emptyCommunityWorld(): World {
  return createWorld({
    hostname: 'lb-empty',
    interfaces: byName([card('eth0', '192.0.2.5')]),
    farmguardians: byName([farmguardian('check_tcp', { template: true })]),
  });
}
