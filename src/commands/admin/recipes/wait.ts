import { AdminError } from '../admin-error.ts';
import type { RecipeContext } from './recipe.ts';

/** Each read starts a process on the appliance. */
const pollIntervalMs = 5_000;

interface Wait<Seen> {
  readonly read: () => Promise<Seen>;
  readonly isDone: (seen: Seen) => boolean;
  /** Describes what was read, for the person who waits. */
  readonly describe: (seen: Seen) => string;
  readonly withinMs: number;
  /** What to do when the time is over. */
  readonly remedy: string;
}

/** Reads at once and then every five seconds until `isDone`; rejects with an AdminError when the time is over. */
export async function waitUntil<Seen>(
  { now, sleep, progress }: Pick<RecipeContext, 'now' | 'sleep' | 'progress'>,
  { read, isDone, describe, withinMs, remedy }: Wait<Seen>,
): Promise<Seen> {
  const deadline = now() + withinMs;
  let shown = '';
  for (;;) {
    const seen = await read();
    if (isDone(seen)) return seen;
    const description = describe(seen);
    if (now() >= deadline) throw new AdminError('It did not come true in time', { detail: `${description}.`, remedy });
    if (description !== shown) progress(description);
    shown = description;
    await sleep(pollIntervalMs);
  }
}
