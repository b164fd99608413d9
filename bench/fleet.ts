import { constants, setPriority } from 'node:os';
import { largeWorld } from '../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../simulator/server.ts';
import { createTlsMaterials } from '../simulator/tls.ts';
import { answerCalls, startWorker } from './worker.ts';

/** Simulated appliances in a process of their own, each with a state and a port of its own. */
export interface Fleet {
  /** The entries of `appliances` in a configuration. */
  readonly entries: readonly { readonly name: string; readonly [key: string]: unknown }[];
  /** Resolves once the process has ended. */
  stop(): Promise<void>;
}

/** The size of a fleet, whose appliances are all alike. */
export interface FleetSize {
  readonly appliances: number;
  readonly farms: number;
  readonly backendsPerFarm: number;
}

/** `realistic`: as slow as real ones. */
type Latency = 'none' | 'realistic';

const apiKey = 'benchmark0123456789';

export async function startFleet(size: FleetSize, latency: Latency): Promise<Fleet> {
  const worker = startWorker<typeof calls>(new URL(import.meta.url));
  const { urls, fingerprintSha256 } = await worker.ask('start', { size, latency });
  return {
    entries: urls.map((url, index) => ({
      name: `lb-${String(index + 1).padStart(4, '0')}`,
      url,
      api_key: apiKey,
      tls: { fingerprint_sha256: fingerprintSha256 },
    })),
    stop: () => worker.stop(),
  };
}

/** Returns `100 appliances × 50 farms × 4 backends`. */
export function sizeText({ appliances, farms, backendsPerFarm }: FleetSize): string {
  return `${appliances.toLocaleString('en')} appliances × ${farms} farms × ${backendsPerFarm} backends`;
}

const calls = {
  async start({ size, latency }: { readonly size: FleetSize; readonly latency: Latency }) {
    const tls = createTlsMaterials();
    const urls: string[] = [];
    for (let number = 0; number < size.appliances; number += 1) {
      const world = largeWorld(size);
      // Connections change with every answer, as they do where there is traffic.
      world.moving = true;
      const { url } = await startSimulatedAppliance({ world, apiKey, latency, tls });
      urls.push(url);
    }
    return { urls, fingerprintSha256: tls.usual.fingerprintSha256 };
  },
};

// The same file is the child process. Real appliances are machines of their own: these must not
// take a core from the exporter or from its references.
if (import.meta.main) {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  answerCalls(calls);
}
