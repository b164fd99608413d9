/** A change of settings after everything that can fail. One of the two methods is called, once. */
export interface Prepared {
  /** Makes the settings active. Cannot fail. */
  commit(): void;
  /** Closes what was opened; the settings before stay active. Absent if nothing was opened. */
  discard?(): Promise<void>;
}

export type Prepare = () => Prepared | Promise<Prepared>;

/**
 * Prepares one change after the other, and then commits all. If one of them cannot be prepared,
 * discards those before it, and rejects.
 */
export async function prepareAndCommit(changes: readonly Prepare[]): Promise<void> {
  const prepared: Prepared[] = [];
  try {
    for (const prepare of changes) prepared.push(await prepare());
  } catch (error) {
    // One that fails to close must neither hide the cause, nor keep the others open.
    await Promise.allSettled(prepared.map(async (change) => await change.discard?.()));
    throw error;
  }
  for (const change of prepared) change.commit();
}
