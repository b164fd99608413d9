import { steadyNow } from './time.ts';

const minuteMs = 60_000;

interface BucketOptions {
  /** The most tokens of a key, which it also begins with. */
  readonly capacity: number;
  /** A key gets one more token each time. */
  readonly tokenMs: number;
}

/** Token buckets: each key may take `capacity` tokens at once, and then as many as come back. */
export class TokenBuckets {
  readonly #options: BucketOptions;
  readonly #now: () => number;
  /** By key; the caller bounds the number of keys. */
  readonly #buckets = new Map<string, { readonly tokens: number; readonly atSteadyMs: number }>();

  constructor(options: BucketOptions, now = steadyNow) {
    this.#options = options;
    this.#now = now;
  }

  /** Creates buckets that fill up within a minute. */
  static perMinute(capacity: number, now = steadyNow): TokenBuckets {
    return new TokenBuckets({ capacity, tokenMs: minuteMs / capacity }, now);
  }

  /** Takes a token if there is one; returns false otherwise. */
  tryTake(key: string): boolean {
    if (this.left(key) < 1) return false;
    this.take(key, 1);
    return true;
  }

  /** Takes tokens, also more than there are: the key then waits until they have come back. */
  take(key: string, tokens: number): void {
    this.#buckets.set(key, { tokens: this.left(key) - tokens, atSteadyMs: this.#now() });
  }

  /** Returns the seconds until a key has so many tokens; 0 if it has them now. */
  secondsUntil(key: string, tokens: number): number {
    const missing = tokens - this.left(key);
    return missing > 0 ? Math.ceil((missing * this.#options.tokenMs) / 1_000) : 0;
  }

  /** Returns the tokens of a key; below 0 while it must wait. */
  left(key: string): number {
    const { capacity, tokenMs } = this.#options;
    const { tokens, atSteadyMs } = this.#buckets.get(key) ?? { tokens: capacity, atSteadyMs: this.#now() };
    return Math.min(capacity, tokens + (this.#now() - atSteadyMs) / tokenMs);
  }
}
