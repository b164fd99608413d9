import type { Logger } from 'pino';
import { steadyNow } from './time.ts';

interface LogDetails {
  readonly because?: string;
  readonly address?: string | undefined;
  readonly err?: unknown;
}

/** One line of each kind in this time; the next line of that kind counts those suppressed. */
const intervalMs = 60_000;

/** Logs what any client can cause at any rate, so that an operator finds why a scrape fails. */
export class ThrottledLog {
  readonly #log: Logger;
  readonly #kinds = new Map<string, { readonly loggedAt: number; suppressed: number }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Writes a line; `message` and `because` must come from a small fixed set that no client
   * influences.
   */
  write(level: 'warn' | 'error', details: LogDetails, message: string): void {
    const kind = `${message}: ${details.because ?? ''}`;
    const before = this.#kinds.get(kind);
    if (before && steadyNow() - before.loggedAt < intervalMs) {
      before.suppressed += 1;
      return;
    }
    this.#kinds.set(kind, { loggedAt: steadyNow(), suppressed: 0 });
    this.#log[level]({ ...details, ...(before && before.suppressed > 0 && { others: before.suppressed }) }, message);
  }

  /** Logs a client that was turned away; `because` is one of a few fixed texts. */
  rejected(because: string, address: string | undefined): void {
    this.write('warn', { address, because }, 'not let in');
  }
}
