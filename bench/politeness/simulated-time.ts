import { mock } from 'node:test';

const realImmediate = setImmediate;
const stepMs = 10;

/** From here on timers and clocks of this process stand still until {@link passTime} moves them. */
export function stopTime(nowMs: number): void {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: nowMs });
  Object.defineProperty(performance, 'now', { value: () => Date.now() - nowMs });
}

/** Moves time in steps of 10 ms, and waits with it while bytes are on the wire: `isQuiet` says when none are. */
export async function passTime(ms: number, isQuiet: () => boolean): Promise<void> {
  const untilMs = Date.now() + ms;
  while (Date.now() < untilMs) {
    mock.timers.tick(stepMs);
    do await new Promise((resolve) => realImmediate(resolve));
    while (!isQuiet());
  }
}
