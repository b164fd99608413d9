import { absolute, type Result } from '../results.ts';

const watchedMs = 10_000;
/** Between two looks at the clock a process that has nothing else to do takes less than a thousandth of that. */
const stallMs = 0.5;

/** What the machine takes from a process that only looks at the clock. No 99th percentile beside it can do without these stalls. */
export function machineResults(): Result[] {
  const stalls = watchClock();
  const lost = stalls.reduce((sum, ms) => sum + ms, 0);
  const name = 'this machine, to a process that only looks at the clock';
  return [
    absolute({ name: `${name}: stalls in each second`, unit: 'ms', value: (lost / watchedMs) * 1_000 }),
    absolute({ name: `${name}: longest stall`, unit: 'ms', value: Math.max(0, ...stalls) }),
  ];
}

/** Milliseconds of each stall. */
function watchClock(): number[] {
  const stalls: number[] = [];
  const startedAtMs = performance.now();
  let nowMs = startedAtMs;
  while (nowMs - startedAtMs < watchedMs) {
    const nextMs = performance.now();
    if (nextMs - nowMs > stallMs) stalls.push(nextMs - nowMs);
    nowMs = nextMs;
  }
  return stalls;
}
