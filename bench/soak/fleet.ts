import type { Fault } from '../../simulator/faults.ts';
import type { ApplianceCalls, ApplianceToStart, SeenCall, StartedAppliance } from './appliance-process.ts';
import { startWorker } from '../worker.ts';

/** Simulated appliances in processes of their own. */
export interface Fleet {
  readonly pids: readonly number[];
  readonly appliances: readonly StartedAppliance[];
  fail(names: readonly string[], route: string, fault: Fault): Promise<void>;
  heal(names: readonly string[]): Promise<void>;
  /** The calls that ended since it was asked last. */
  drain(): Promise<readonly SeenCall[]>;
  close(): Promise<void>;
}

const processes = 2;

export async function startFleet(appliances: readonly ApplianceToStart[]): Promise<Fleet> {
  const workers = Array.from({ length: processes }, () =>
    startWorker<ApplianceCalls>(new URL('appliance-process.ts', import.meta.url)),
  );
  const started = await Promise.all(
    workers.map((worker, own) =>
      worker.ask(
        'start',
        appliances.filter((_, index) => index % processes === own),
      ),
    ),
  );

  // Ignores calls that a worker does not have.
  return {
    pids: workers.map(({ pid }) => pid),
    appliances: started.flat(),
    async fail(names, route, fault) {
      await Promise.all(workers.map((worker) => worker.ask('fail', { names, route, fault })));
    },
    async heal(names) {
      await Promise.all(workers.map((worker) => worker.ask('heal', { names })));
    },
    drain: async () => (await Promise.all(workers.map((worker) => worker.ask('drain', undefined)))).flat(),
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
