import { callTimeout } from './errors.ts';

/** Aborts a call with the signal of its caller, or when its time is over. */
export class CallDeadline {
  // AbortSignal.any would leave weak references behind at every call.
  readonly #ending = new AbortController();
  readonly signal = this.#ending.signal;
  readonly #caller: AbortSignal;
  readonly #leave = (): void => this.#ending.abort(this.#caller.reason);
  #timer: NodeJS.Timeout | undefined;

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    if (caller.aborted) this.#leave();
    caller.addEventListener('abort', this.#leave, { once: true });
  }

  startTimer(limitMs: number): void {
    this.#timer = setTimeout(() => this.#ending.abort(callTimeout(limitMs)), limitMs);
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  /** Leaves the signal of the caller, which may live longer than many calls. */
  release(): void {
    this.stopTimer();
    this.#caller.removeEventListener('abort', this.#leave);
  }
}
