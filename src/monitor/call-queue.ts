/** Runs the calls to one appliance in order of urgency, few at a time, and bounds the ratio of time that they keep it busy. */
export interface CallQueue {
  /**
   * Runs `call` when it is the most urgent one: a call that can wait `maxWaitMs` from now goes after all calls that can wait
   * less long, so that no call waits for ever. Rejects with the signal's reason when it aborts while the call waits.
   */
  run<Result>(maxWaitMs: number, signal: AbortSignal, call: () => Promise<Result>): Promise<Result>;
  /** Charges the time that a call kept the appliance busy: no call starts until the ratio is kept again. */
  charge(busySeconds: number): void;
  /** No call starts before this time, by the clock of `now`. */
  readonly opensAtMs: number;
}

export interface CallQueueOptions {
  readonly maxConcurrent: number;
  /** At most this ratio of time, 0 to 1, is spent in calls. */
  readonly maxBusyRatio: number;
  /** Milliseconds on the clock that timers go by. */
  readonly now: () => number;
  /** `opensAtMs` of the queue that this one replaces. */
  readonly opensAtMs?: number | undefined;
}

interface Waiting {
  readonly dueMs: number;
  readonly enter: () => void;
}

/** Calls that are due at the same moment keep their order. */
export function createCallQueue({ maxConcurrent, maxBusyRatio, now, opensAtMs = 0 }: CallQueueOptions): CallQueue {
  const waitingCalls: Waiting[] = [];
  let running = 0;
  let opensAt = opensAtMs;
  let timer: NodeJS.Timeout | undefined;

  function admit(): void {
    while (waitingCalls.length > 0 && running < maxConcurrent) {
      const wait = opensAt - now();
      if (wait > 0) {
        timer ??= setTimeout(() => {
          timer = undefined;
          admit();
        }, wait);
        return;
      }
      running += 1;
      waitingCalls.shift()?.enter();
    }
  }

  function enqueue(waiting: Waiting): void {
    const index = waitingCalls.findIndex(({ dueMs }) => dueMs > waiting.dueMs);
    waitingCalls.splice(index === -1 ? waitingCalls.length : index, 0, waiting);
  }

  return {
    get opensAtMs() {
      return opensAt;
    },
    charge(busySeconds) {
      // A call of d seconds may be followed by the next one after d / ratio, counted from its start.
      const busyMs = busySeconds * 1_000;
      opensAt = Math.max(opensAt, now() - busyMs) + busyMs / maxBusyRatio;
    },
    async run(maxWaitMs, signal, call) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          waitingCalls.splice(waitingCalls.indexOf(waiting), 1);
          if (waitingCalls.length === 0) clearTimer();
          reject(signal.reason as Error);
        };
        const waiting: Waiting = {
          dueMs: now() + maxWaitMs,
          enter: () => {
            signal.removeEventListener('abort', leave);
            resolve();
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        enqueue(waiting);
        admit();
      });
      try {
        return await call();
      } finally {
        running -= 1;
        admit();
      }
    },
  };

  function clearTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }
}
