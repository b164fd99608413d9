import type { Fault } from '../simulator/faults.ts';
import { largeWorld } from '../simulator/scenes/sizes.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../simulator/server.ts';
import { createTlsMaterials } from '../simulator/tls.ts';
import { answerCalls } from './worker.ts';

/** The calls of the process with the simulated appliances of a soak. */
export type ApplianceCalls = typeof calls;

const tls = createTlsMaterials();
const running: SimulatedAppliance[] = [];

const calls = {
  async start({ count, apiKey }: { readonly count: number; readonly apiKey: string }) {
    for (let index = 0; index < count; index += 1) {
      // Every fifth one is large. Nothing changes by itself, so a series that goes away was lost.
      const world = largeWorld({ farms: index % 5 === 4 ? 20 : 3, backendsPerFarm: 3 });
      running.push(await startSimulatedAppliance({ world, apiKey, tls }));
    }
    return { urls: running.map(({ url }) => url), fingerprintSha256: tls.usual.fingerprintSha256 };
  },
  fail({ indexes, fault }: { readonly indexes: readonly number[]; readonly fault: Fault }): void {
    for (const index of indexes) running[index]?.fail('*', fault);
  },
  heal(): void {
    for (const appliance of running) appliance.heal();
  },
};

answerCalls(calls);
