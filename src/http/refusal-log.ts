import type { Logger } from 'pino';

/** Says that somebody was turned away, so that whoever wonders why a scrape fails finds it. */
export interface RefusalLog {
  /** `because` is one of a few fixed texts; a stranger has no say in it. */
  refused(because: string, address: string | undefined): void;
}

/** Strangers who try all day must not fill the log: a line of each kind in so long a time has the number of the others. */
const quietMs = 60_000;

export interface RefusalLogParts {
  readonly log: Logger;
  /** What happened to them. */
  readonly message: string;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

export function createRefusalLog({ log, message, now }: RefusalLogParts): RefusalLog {
  const kinds = new Map<string, { readonly saidAt: number; more: number }>();
  return {
    refused(because, address) {
      const before = kinds.get(because);
      if (before && now() - before.saidAt < quietMs) {
        before.more += 1;
        return;
      }
      kinds.set(because, { saidAt: now(), more: 0 });
      log.warn({ address, because, ...(before && before.more > 0 && { others: before.more }) }, message);
    },
  };
}
