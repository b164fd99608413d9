// A moment is in Unix milliseconds, unless its name says on which clock it is: `…SteadyMs` of
// `steadyNow`, `…ElapsedMs` of an elapsed clock.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export const dayMs = 86_400_000;
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs } as const;

/**
 * Returns the milliseconds of a duration such as `20s`, `3m` or `1h30m`; undefined for any other
 * text.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  return Math.round(total);
}

/**
 * Returns the Unix milliseconds of a moment in ISO 8601, or of a duration before now; NaN for any
 * other text.
 */
export function momentOf(text: string, nowMs: number): number {
  const back = parseDuration(text);
  return back === undefined ? Date.parse(text) : nowMs - back;
}

/** Formats milliseconds for people: `90000` becomes `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  let seconds = Math.round(ms / 1_000);
  const parts: string[] = [];
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const amount = Math.floor(seconds / size);
    seconds -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
  }
  return parts.join('');
}

/** Returns `4 min`, `3 h` or `12 d`; only the larger unit of longer spans. */
export function span(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return '<1 min';
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** Returns how long ago a moment was, in words. */
export function ago(momentMs: number, nowMs: number): string {
  return `${span(nowMs - momentMs)} ago`;
}

/** Returns the UTC day of Unix milliseconds: `2026-11-21`. */
export function dayOf(ms: number): string {
  return isoTime(ms)?.slice(0, 10) ?? 'a day that cannot be read';
}

/** Returns `2026-11-21T13:01:12Z`; undefined for a moment beyond the range of Date. */
export function isoTime(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19)}Z`;
}

/**
 * Returns milliseconds of a monotonic clock with no particular origin. Use it for waits and
 * durations: a change of the system clock must neither stop polling nor look like an hour of work.
 */
export function steadyNow(): number {
  return performance.now();
}

/**
 * Creates an elapsed clock: milliseconds with no particular origin, whose differences never
 * understate an age. The monotonic clock stops while a virtual machine is paused, and the system
 * clock can be set back; between two calls, the one that moved further counts.
 */
export function createElapsedClock(unixNow: () => number, steadyNow: () => number): () => number {
  let unixMs = unixNow();
  let steadyMs = steadyNow();
  let elapsedMs = 0;
  return () => {
    const [unixBeforeMs, steadyBeforeMs] = [unixMs, steadyMs];
    unixMs = unixNow();
    steadyMs = steadyNow();
    elapsedMs += Math.max(0, unixMs - unixBeforeMs, steadyMs - steadyBeforeMs);
    return elapsedMs;
  };
}

/**
 * Resolves after `ms`; rejects with the signal's reason if it aborts first. Uses the global timers,
 * which tests can fake.
 */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal.addEventListener('abort', leave, { once: true });
  });
}

/**
 * Resolves or rejects like the work, or rejects with the error of `late` after `ms`. The work
 * continues.
 */
export async function inTime<Value>(work: Promise<Value>, ms: number, late: () => Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Creates a function that waits for work as {@link inTime} does. While some of it is late, it refuses
 * more with the same error, so that nothing piles up behind a hung disk.
 */
export function createGate(ms: number, late: () => Error) {
  let lateCount = 0;
  return async <Value>(begin: () => Promise<Value>): Promise<Value> => {
    if (lateCount > 0) throw late();
    const work = begin();
    return await inTime(work, ms, () => {
      lateCount += 1;
      const end = (): number => (lateCount -= 1);
      work.then(end, end);
      return late();
    });
  };
}

/**
 * Divides long work into slices of `lengthMs`, so that the event loop runs other work in between;
 * begins the first one.
 */
export function createTimeSlice(lengthMs: number) {
  let endSteadyMs = steadyNow() + lengthMs;
  return {
    get isOver(): boolean {
      return steadyNow() >= endSteadyMs;
    },
    /** Lets other work run, and begins a new slice. */
    async next(): Promise<void> {
      await yieldToEventLoop();
      endSteadyMs = steadyNow() + lengthMs;
    },
  };
}

/** Returns the milliseconds of a monotonic clock that all threads of the process share. */
export function processNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
