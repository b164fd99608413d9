import { setImmediate as realTurn } from 'node:timers/promises';

/** The timers and clocks of this process, moved by hand. */
export interface SimulatedClock {
  /** Runs what is due within so many milliseconds, in the order of time. */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

/** A callback may make others due; after so many turns of the loop all of them have run. */
const turnsPerTimer = 4;

/** Replaces the timers and the clocks of this process for good, beginning at a date. */
export function simulateClock(dateMs: number): SimulatedClock {
  const timers = new Map<number, Timer>();
  let nowMs = 0;
  let last = 0;

  function add(run: () => void, ms: number): number {
    last += 1;
    timers.set(last, { atMs: nowMs + Math.max(ms, 0), run });
    return last;
  }

  function repeat(id: number, run: () => void, ms: number): void {
    timers.set(id, {
      atMs: nowMs + ms,
      run() {
        repeat(id, run, ms);
        run();
      },
    });
  }

  const clear = (id: number | undefined): void => void timers.delete(id ?? 0);
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms = 0) => add(run, ms),
    setInterval(run: () => void, ms: number) {
      last += 1;
      repeat(last, run, ms);
      return last;
    },
    clearTimeout: clear,
    clearInterval: clear,
  });
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args: readonly unknown[]) {
      super(...((args.length === 0 ? [dateMs + nowMs] : args) as [number]));
    }

    static override now(): number {
      return dateMs + nowMs;
    }
  } as DateConstructor;
  performance.now = () => nowMs;

  function next(): readonly [number, Timer] | undefined {
    let first: readonly [number, Timer] | undefined;
    for (const entry of timers) if (!first || entry[1].atMs < first[1].atMs) first = entry;
    return first;
  }

  return {
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (let due = next(); due && due[1].atMs <= untilMs; due = next()) {
        const [id, { atMs, run }] = due;
        timers.delete(id);
        nowMs = Math.max(nowMs, atMs);
        run();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsPerTimer; turn += 1) await realTurn();
}
