import { AdminError } from '../admin-error.ts';
import type { RecipeContext } from './recipe.ts';

/** Each look starts a process on the appliance. */
const betweenLooksMs = 5_000;

interface Wait<Seen> {
  readonly look: () => Promise<Seen>;
  readonly holds: (seen: Seen) => boolean;
  /** What was seen, for whoever waits. */
  readonly describe: (seen: Seen) => string;
  readonly withinMs: number;
  /** What to do when it does not come true. */
  readonly remedy: string;
}

/** Looks at once and then every five seconds until it holds; rejects with an AdminError when the time is over. */
export async function waitUntil<Seen>(
  { now, sleep, progress }: Pick<RecipeContext, 'now' | 'sleep' | 'progress'>,
  { look, holds, describe, withinMs, remedy }: Wait<Seen>,
): Promise<Seen> {
  const deadline = now() + withinMs;
  let told = '';
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    const description = describe(seen);
    if (now() >= deadline) throw new AdminError('It did not come true in time', { detail: `${description}.`, remedy });
    if (description !== told) progress(description);
    told = description;
    await sleep(betweenLooksMs);
  }
}
