import type { Logger } from 'pino';

/** Says what strangers can make happen as often as they like, so that whoever wonders why a scrape fails finds it. */
export interface QuietLog {
  /** `message` and `because` are of a few fixed texts; a stranger has no say in them. */
  tell(level: 'warn' | 'error', details: QuietDetails, message: string): void;
}

export interface QuietDetails {
  readonly because?: string;
  readonly address?: string | undefined;
  readonly err?: unknown;
}

/** Strangers who try all day must not fill the log: a line of each kind in so long a time has the number of the others. */
const quietMs = 60_000;

export interface QuietLogParts {
  readonly log: Logger;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

export function createQuietLog({ log, now }: QuietLogParts): QuietLog {
  const kinds = new Map<string, { readonly saidAt: number; more: number }>();
  return {
    tell(level, details, message) {
      const kind = `${message}: ${details.because ?? ''}`;
      const before = kinds.get(kind);
      if (before && now() - before.saidAt < quietMs) {
        before.more += 1;
        return;
      }
      kinds.set(kind, { saidAt: now(), more: 0 });
      log[level]({ ...details, ...(before && before.more > 0 && { others: before.more }) }, message);
    },
  };
}
