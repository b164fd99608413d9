import { vi } from 'vitest';

const realImmediate = setImmediate;

/** Moves the faked clock from timer to timer, and waits with it while bytes are on the wire. */
export async function passTime(untilMs: number, isQuiet: () => boolean): Promise<void> {
  while (Date.now() < untilMs) {
    while (!isQuiet()) await new Promise((resolve) => realImmediate(resolve));
    await vi.advanceTimersToNextTimerAsync();
  }
}
