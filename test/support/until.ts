import { inspect } from 'node:util';

/** A look may cost a whole page, on both sides: what takes long is looked at less often. */
const firstPauseMs = 20;
const longestPauseMs = 250;

/**
 * Polls a condition until it holds; fails with what was last seen. Waits on the real clock and
 * nothing else.
 */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
  holds: (seen: Seen) => boolean,
  withinMs = 60_000,
): Promise<Seen> {
  const startedAt = performance.now();
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    const passedMs = performance.now() - startedAt;
    if (passedMs > withinMs)
      throw new Error(`timed out after ${withinMs} ms; last seen: ${readable(seen).slice(0, 4_000)}`);
    const pauseMs = Math.min(firstPauseMs + passedMs / 10, longestPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Waits until a value is the one that is wanted, such as a number of requests. */
export async function untilIs<Seen>(look: () => Seen | Promise<Seen>, wanted: Seen): Promise<void> {
  await until(look, (seen) => seen === wanted);
}

function readable(seen: unknown): string {
  return typeof seen === 'string' ? seen : inspect(seen, { depth: 5 });
}
