import { constants, setPriority } from 'node:os';
import { largeWorld } from '../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../simulator/server.ts';
import { createTlsMaterials } from '../simulator/tls.ts';

/** A fleet of simulated appliances that are all alike. */
export interface FleetSize {
  readonly appliances: number;
  readonly farms: number;
  readonly backendsPerFarm: number;
}

/** The message that starts the appliances. */
export interface FleetOrder {
  readonly size: FleetSize;
  readonly apiKey: string;
  /** `realistic`: as slow as real ones. */
  readonly latency: 'none' | 'realistic';
}

/** The answer to it. */
export interface StartedFleet {
  readonly urls: readonly string[];
  readonly fingerprintSha256: string;
}

// The child process that is all appliances, each with a state and a port of its own. Real ones are
// machines of their own: these must not take a core from the exporter or from its references.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
process.once('message', (order: FleetOrder) => void start(order));
process.on('disconnect', () => process.exit());

async function start({ size, apiKey, latency }: FleetOrder): Promise<void> {
  const tls = createTlsMaterials();
  const urls: string[] = [];
  for (let number = 0; number < size.appliances; number += 1) {
    const world = largeWorld(size);
    // Connections change with every answer, as they do where there is traffic.
    world.moving = true;
    const { url } = await startSimulatedAppliance({ world, apiKey, latency, tls });
    urls.push(url);
  }
  process.send?.({ urls, fingerprintSha256: tls.usual.fingerprintSha256 } satisfies StartedFleet);
}
