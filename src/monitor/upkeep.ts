import { sleep } from '../lib/sleep.ts';
import { createSlice } from '../lib/slice.ts';

/** Work that is done over and over, a little at a time, so that nobody waits for all of it at once. */
export interface Upkeep {
  start(): void;
  /** Resolves at the end of the time that is under way, or of one that begins now. */
  once(): Promise<void>;
  /** Resolves once nothing of it is under way. */
  close(): Promise<void>;
}

const pauseMs = 1_000;
/** After so long everything else has its turn. */
const sliceMs = 0.25;

/** `steps` are short, and may come to an end at once. */
export function createUpkeep(steps: () => Iterable<void>): Upkeep {
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let current: Promise<void> | undefined;

  async function takeSteps(): Promise<void> {
    const slice = createSlice(sliceMs);
    for (const _step of steps()) {
      if (!slice.isOver) continue;
      await slice.next();
      if (closing.signal.aborted) return;
    }
  }

  function once(): Promise<void> {
    current ??= takeSteps().finally(() => (current = undefined));
    return current;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await once();
      await sleep(pauseMs, closing.signal).catch(() => undefined);
    }
  }

  return {
    start() {
      running = run();
    },
    once,
    async close() {
      closing.abort();
      await Promise.all([running, current]);
    },
  };
}
