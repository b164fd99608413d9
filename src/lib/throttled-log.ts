import type { Logger } from 'pino';
import { steadyNow } from './time.ts';

interface LogDetails {
  readonly because?: string;
  readonly address?: string | undefined;
  readonly err?: unknown;
}

/** At most one line of each kind in this time; the next one has the number of those suppressed. */
const intervalMs = 60_000;

/** Limits the lines of the log that any client can cause at any rate. */
export class ThrottledLog {
  readonly #log: Logger;
  readonly #kinds = new Map<string, { readonly loggedAtSteadyMs: number; suppressed: number }>();

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
    if (before && steadyNow() - before.loggedAtSteadyMs < intervalMs) {
      before.suppressed += 1;
      return;
    }
    this.#kinds.set(kind, { loggedAtSteadyMs: steadyNow(), suppressed: 0 });
    this.#log[level]({ ...details, ...(before && before.suppressed > 0 && { others: before.suppressed }) }, message);
  }

  /** Logs a rejected client; `because` is one of a few fixed texts. */
  logRejected(because: string, address: string | undefined): void {
    this.write('warn', { address, because }, 'not let in');
  }
}
