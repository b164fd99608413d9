import { readFileSync } from 'node:fs';

/** How long the machine kept processes waiting that had something to do: what is late for that is not late by itself. */
export interface Waits {
  sample(): void;
  /** Milliseconds that they waited in a stretch of time, all together. */
  between(fromMs: number, toMs: number): number;
}

interface Sample {
  readonly atMs: number;
  /** Since the processes began. */
  readonly waitedMs: number;
}

export function createWaits(pids: readonly number[]): Waits {
  const samples: Sample[] = [];

  function waitedBy(timeMs: number): number {
    const after = samples.findIndex(({ atMs }) => atMs >= timeMs);
    const [first, second] = after === -1 ? [samples.at(-1), undefined] : [samples[after - 1], samples[after]];
    if (!first || !second) return (first ?? second)?.waitedMs ?? 0;
    const share = (timeMs - first.atMs) / (second.atMs - first.atMs);
    return first.waitedMs + share * (second.waitedMs - first.waitedMs);
  }

  return {
    sample() {
      const waited = pids.map(waitedMsOf).reduce((sum, ms) => sum + ms, 0);
      samples.push({ atMs: Date.now(), waitedMs: waited });
    },
    between: (fromMs, toMs) => waitedBy(toMs) - waitedBy(fromMs),
  };
}

/** Of the main thread, on the kernel's queue of what could run. */
function waitedMsOf(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waitedNs) / 1e6;
}
