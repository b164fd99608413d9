import { steadyNow } from './time.ts';

const minuteMs = 60_000;

/** Gives each peer a minute's amount at once, and then as much again every minute. */
export class Allowance {
  readonly #perMinute: number;
  readonly #now: () => number;
  /** The room left to each peer at a time. The configuration names the peers: they are few. */
  readonly #rooms = new Map<string, { readonly left: number; readonly atMs: number }>();

  constructor(perMinute: number, now = steadyNow) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Takes an amount, also one that is not left: the peer then waits until it is made up for. */
  take(peer: string, amount: number): void {
    this.#rooms.set(peer, { left: this.left(peer) - amount, atMs: this.#now() });
  }

  /** Returns after how many seconds an amount is left to a peer; 0 if it is now. */
  secondsUntil(peer: string, amount: number): number {
    const missing = amount - this.left(peer);
    return missing > 0 ? Math.ceil((missing / this.#perMinute) * (minuteMs / 1_000)) : 0;
  }

  /** Returns the amount that is left to a peer; below 0 while it must wait. */
  left(peer: string): number {
    const { left, atMs } = this.#rooms.get(peer) ?? { left: this.#perMinute, atMs: this.#now() };
    return Math.min(this.#perMinute, left + ((this.#now() - atMs) / minuteMs) * this.#perMinute);
  }
}
