import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep } from '../lib/sleep.ts';
import { steadyNow } from '../lib/steady-now.ts';

/** Work that is done over and over, a little at a time, so that nobody waits for all of it at once. */
export interface Upkeep {
  start(): void;
  /** Resolves once nothing of it is under way. */
  close(): Promise<void>;
}

const pauseMs = 1_000;
/** After so long everything else has its turn. */
const sliceMs = 1;

/** `steps` are short, and may come to an end at once. */
export function createUpkeep(steps: () => Iterable<void>): Upkeep {
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      let sliceEndsMs = steadyNow() + sliceMs;
      for (const _step of steps()) {
        if (steadyNow() < sliceEndsMs) continue;
        await nextTurn();
        if (closing.signal.aborted) return;
        sliceEndsMs = steadyNow() + sliceMs;
      }
      await sleep(pauseMs, closing.signal).catch(() => undefined);
    }
  }

  return {
    start() {
      running = run();
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
