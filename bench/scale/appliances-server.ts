import { constants, setPriority } from 'node:os';
import { largeWorld } from '../../src/simulator/scenarios.ts';
import { startSimulatedAppliance } from '../../src/simulator/server.ts';
import { createTlsMaterials } from '../../src/simulator/tls.ts';
import type { FleetSize } from './fleet-size.ts';

// The child process that is all appliances of a fleet, each with a state and a port of its own, as slow as real ones.
// Those are machines of their own: what they compute must not take a core from the exporter, or from what it is measured against.
setPriority(constants.priority.PRIORITY_LOW);
process.once('message', ({ size, apiKey }: { size: FleetSize; apiKey: string }) => void start(size, apiKey));
process.on('disconnect', () => process.exit());

async function start({ appliances, farms, backendsPerFarm }: FleetSize, apiKey: string): Promise<void> {
  const tls = await createTlsMaterials();
  const urls: string[] = [];
  for (let number = 0; number < appliances; number += 1) {
    const world = largeWorld({ farms, backendsPerFarm });
    // Connections change with every answer, as they do where there is traffic.
    world.moving = true;
    const { url } = await startSimulatedAppliance({ world, apiKey, latency: 'realistic', tls });
    urls.push(url);
  }
  process.send?.({ urls, fingerprintSha256: tls.usual.fingerprintSha256 });
}
