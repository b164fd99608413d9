import type { Logger } from 'pino';

/** Logs what any client can cause at any rate, so that an operator finds why a scrape fails. */
export interface ThrottledLog {
  /** `message` and `because` must come from a small fixed set; a client must not influence them. */
  write(level: 'warn' | 'error', details: LogDetails, message: string): void;
}

export interface LogDetails {
  readonly because?: string;
  readonly address?: string | undefined;
  readonly err?: unknown;
}

/** One line of each kind in this time; the next line of that kind counts those suppressed. */
const intervalMs = 60_000;

export interface ThrottledLogParts {
  readonly log: Logger;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

export function createThrottledLog({ log, now }: ThrottledLogParts): ThrottledLog {
  const kinds = new Map<string, { readonly loggedAt: number; suppressed: number }>();
  return {
    write(level, details, message) {
      const kind = `${message}: ${details.because ?? ''}`;
      const before = kinds.get(kind);
      if (before && now() - before.loggedAt < intervalMs) {
        before.suppressed += 1;
        return;
      }
      kinds.set(kind, { loggedAt: now(), suppressed: 0 });
      log[level]({ ...details, ...(before && before.suppressed > 0 && { others: before.suppressed }) }, message);
    },
  };
}
