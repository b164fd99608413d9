/** Runs work once it has a slot; rejects when the signal aborts while it waits for one. */
export type InSlot = <Value>(signal: AbortSignal, work: () => Promise<Value>) => Promise<Value>;

/** Creates a number of slots, which are given in the order of the requests. */
export function createSlots(count: number): InSlot {
  const slots = new Slots({ count: () => count, next: ([first]) => first });
  return async (signal, work) => {
    await slots.take({ signal });
    try {
      return await work();
    } finally {
      slots.release();
    }
  };
}

export interface SlotsParts<Caller> {
  readonly count: () => number;
  /** Chooses the caller that gets a free slot; undefined if none of them may have it now. */
  readonly next: (waiting: Iterable<Caller>) => Caller | undefined;
}

/** Gives slots to callers that wait for one. A slot is never lost, whoever leaves at the same time. */
export class Slots<Caller extends { readonly signal: AbortSignal }> {
  readonly #parts: SlotsParts<Caller>;
  /** In the order of their arrival. */
  readonly #waiting = new Map<Caller, Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>>();
  #taken = 0;

  constructor(parts: SlotsParts<Caller>) {
    this.#parts = parts;
  }

  get waiting(): readonly Caller[] {
    return [...this.#waiting.keys()];
  }

  get hasFree(): boolean {
    return this.#taken < this.#parts.count();
  }

  /** Resolves when the caller has a slot; rejects with the reason of its signal. */
  async take(caller: Caller): Promise<void> {
    const { signal } = caller;
    signal.throwIfAborted();
    const { promise, ...settle } = Promise.withResolvers<void>();
    const leave = (): void => this.refuse(caller, signal.reason);
    this.#waiting.set(caller, settle);
    signal.addEventListener('abort', leave, { once: true });
    this.assign();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  release(): void {
    this.#taken -= 1;
    this.assign();
  }

  /** Ends the wait of a caller with an error. */
  refuse(caller: Caller, error: unknown): void {
    this.#waiting.get(caller)?.reject(error);
    this.#waiting.delete(caller);
    this.assign();
  }

  /** Gives free slots to callers; also called when `next` may choose another one than before. */
  assign(): void {
    while (this.hasFree) {
      const caller = this.#parts.next(this.#waiting.keys());
      if (!caller) return;
      this.#taken += 1;
      this.#waiting.get(caller)?.resolve();
      this.#waiting.delete(caller);
    }
  }
}
