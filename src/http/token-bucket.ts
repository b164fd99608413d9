/** Lets so many through at once, and one more each interval. */
export interface TokenBucket {
  /** False when there is none left to take. */
  take(): boolean;
}

export interface TokenBucketParts {
  readonly intervalMs: number;
  readonly burst: number;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

export function createTokenBucket({ intervalMs, burst, now }: TokenBucketParts): TokenBucket {
  let tokens = burst;
  let filledAt = now();
  return {
    take() {
      const at = now();
      tokens = Math.min(burst, tokens + (at - filledAt) / intervalMs);
      filledAt = at;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
