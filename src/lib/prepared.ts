/** A change of settings after everything that can fail. One of the two methods is called, once. */
export interface Prepared {
  /** Puts the settings in force. Cannot fail. */
  commit(): void;
  /** Closes what was opened; the settings before stay in force. Absent if nothing was opened. */
  discard?(): Promise<void>;
}

/** Prepares one part after the other; if one of them rejects, those before it are discarded. */
export async function prepareAll(parts: readonly (() => Prepared | Promise<Prepared>)[]): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = [];
  try {
    for (const prepare of parts) prepared.push(await prepare());
  } catch (error) {
    for (const part of prepared) await part.discard?.();
    throw error;
  }
  return prepared;
}
