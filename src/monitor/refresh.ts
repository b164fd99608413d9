/** Runs something again after what is under way, once, however often it is asked for meanwhile. */
export interface Refresh {
  /** Resolves when the run is over; an earlier request whose run has not begun yet is the same request. */
  after(current: Promise<void> | undefined, key: string, run: () => Promise<void>): Promise<void>;
}

export function createRefresh(): Refresh {
  const waiting = new Map<string, Promise<void>>();
  const busy = new Map<string, Promise<void>>();

  async function inTurn(current: Promise<void> | undefined, key: string, run: () => Promise<void>): Promise<void> {
    await Promise.all([current, busy.get(key)]);
    waiting.delete(key);
    const over = run();
    busy.set(key, over);
    await over.finally(() => busy.delete(key));
  }

  return {
    after(current, key, run) {
      const planned = waiting.get(key) ?? inTurn(current, key, run);
      waiting.set(key, planned);
      return planned;
    },
  };
}
