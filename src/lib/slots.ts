/** Runs work once it has a slot; rejects when the signal aborts while it waits for one. */
export type InSlot = <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>;

/** Creates a number of slots, which are given in the order of the requests. */
export function createSlots(count: number): InSlot {
  let free = count;
  const waiting = new Set<() => void>();

  async function take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // At once, so that no slot is given to it any more.
    const left = (): void => {
      waiting.delete(resolve);
      reject(signal.reason);
    };
    waiting.add(resolve);
    signal.addEventListener('abort', left, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', left);
    }
  }

  function giveBack(): void {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  return async (signal, work) => {
    await take(signal);
    try {
      return await work();
    } finally {
      giveBack();
    }
  };
}
