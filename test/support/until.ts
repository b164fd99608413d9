import { inspect } from 'node:util';

/**
 * Polls a condition until it holds; fails with what was last seen. Waits on the real clock and
 * nothing else.
 */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
  holds: (seen: Seen) => boolean,
  withinMs = 60_000,
): Promise<Seen> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > deadline)
      throw new Error(`did not come true within ${withinMs} ms; last seen: ${readable(seen).slice(0, 4_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a value is the one that is wanted, such as a number of requests. */
export async function untilIs<Seen>(look: () => Seen | Promise<Seen>, wanted: Seen): Promise<void> {
  await until(look, (seen) => seen === wanted);
}

function readable(seen: unknown): string {
  return typeof seen === 'string' ? seen : inspect(seen, { depth: 5 });
}
