/** Lets calls to one appliance through in order of urgency, few at a time, and bounds the share of time it spends on us. */
export interface Turnstile {
  /**
   * Runs `call` when its turn comes: who can wait `patienceMs` from now goes after all who can wait less long, so that those
   * in a hurry are first and nobody waits for ever. Rejects with the signal's reason when it aborts while waiting. A call
   * reports the seconds it kept the appliance busy through `rest`.
   */
  pass<Result>(patienceMs: number, signal: AbortSignal, call: () => Promise<Result>): Promise<Result>;
  /** Keeps the turnstile shut until the busy time just spent is at most the allowed share. */
  rest(busySeconds: number): void;
  /** Shut until then, on the clock of the turnstile. */
  readonly opensAtMs: number;
}

export interface TurnstileOptions {
  readonly maxConcurrent: number;
  /** At most this share of time, 0 to 1, is spent in calls. */
  readonly maxBusyRatio: number;
  /** Milliseconds on the clock that timers go by. */
  readonly now: () => number;
  /** Where another one stood before: shut for as long as that one was. */
  readonly opensAtMs?: number | undefined;
}

interface Waiting {
  readonly dueMs: number;
  readonly enter: () => void;
}

/** Those who are due at the same moment keep their order. */
export function createTurnstile({ maxConcurrent, maxBusyRatio, now, opensAtMs = 0 }: TurnstileOptions): Turnstile {
  const line: Waiting[] = [];
  let running = 0;
  let opensAt = opensAtMs;
  let timer: NodeJS.Timeout | undefined;

  function admit(): void {
    while (line.length > 0 && running < maxConcurrent) {
      const wait = opensAt - now();
      if (wait > 0) {
        timer ??= setTimeout(() => {
          timer = undefined;
          admit();
        }, wait);
        return;
      }
      running += 1;
      line.shift()?.enter();
    }
  }

  function enqueue(waiting: Waiting): void {
    const index = line.findIndex(({ dueMs }) => dueMs > waiting.dueMs);
    line.splice(index === -1 ? line.length : index, 0, waiting);
  }

  return {
    get opensAtMs() {
      return opensAt;
    },
    rest(busySeconds) {
      // A call of d seconds may be followed by the next one after d / ratio, counted from its start.
      const busyMs = busySeconds * 1_000;
      opensAt = Math.max(opensAt, now() - busyMs) + busyMs / maxBusyRatio;
    },
    async pass(patienceMs, signal, call) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          line.splice(line.indexOf(waiting), 1);
          if (line.length === 0) clearTimer();
          reject(signal.reason as Error);
        };
        const waiting: Waiting = {
          dueMs: now() + patienceMs,
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
