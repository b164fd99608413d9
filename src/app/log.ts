import { constants, openSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import { errorCode, toError } from '../lib/check.ts';

/**
 * Fields that must never be printed, should one ever be logged; the Secret type is the first lock.
 */
const secretFields = [
  'authorization',
  'zapi_key',
  'api_key',
  'apiKey',
  'password',
  'newpassword',
  'key',
  'certificate_key',
];

interface Log {
  readonly logger: Logger;
  /** Returns the number of lines that could not be written so far. */
  readonly droppedLines: () => number;
  /** Resolves when the reader has taken all lines, or after 0.3 s. */
  readonly flush: () => Promise<void>;
}

/** Logs to standard error; standard output is for people. */
export function createLog(options: { readonly level: string; readonly format: string | undefined }): Log {
  const inFormat = options.format === 'logfmt' ? logfmt : (line: string) => line;
  const { write, ...output } = createLogOutput(openStandardError(process.stderr), (lines, because) => {
    const notice = { level: 'warn', time: new Date().toISOString(), lines, because, msg: 'log lines were lost' };
    return inFormat(`${JSON.stringify(notice)}\n`);
  });
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
  };
  return { logger: pino(settings, { write: (line: string) => write(inFormat(line)) }), ...output };
}

/**
 * Rewrites a JSON line of pino as logfmt, as the exporters of the Prometheus project print them.
 */
function logfmt(line: string): string {
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return `${fields.map(([name, value]) => `${name}=${quoted(value)}`).join(' ')}\n`;
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w.:/+-]+$/.test(text) ? text : JSON.stringify(text);
}

/**
 * Characters that wait for a slow reader: about 1,000 lines, beyond the 64 kB that a pipe holds.
 */
const maxWaitingLength = 262_144;
const retryMs = 100;
const maxFlushRetries = 3;

/**
 * Returns a descriptor of standard error on which a write never waits for a reader. Node.js makes a
 * pipe or a socket non-blocking when it creates `process.stderr`, but leaves a terminal blocking.
 * The terminal is therefore opened again: the mode belongs to the open file, so other programs on
 * the same terminal keep theirs.
 */
function openStandardError({ fd }: { readonly fd: number }): number {
  if (!isatty(fd)) return fd;
  try {
    return openSync('/dev/stderr', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // The terminal belongs to another user, or this process may not open it: a paused terminal then
    // blocks.
    return fd;
  }
}

/**
 * Creates an output that writes each line at once, so that the last lines before an end are not
 * lost. It never throws and never blocks: lines are kept for a slow reader, and dropped and counted
 * if they cannot be written. `lossNotice` renders the line that reports how many lines were lost.
 */
function createLogOutput(fd: number, lossNotice: (lines: number, because: string) => string) {
  const waiting: string[] = [];
  let waitingLength = 0;
  /**
   * The line or notice under way. `reports` is the number of lost lines in a notice, 0 for a line.
   */
  let current: { rest: Uint8Array; readonly reports: number } | undefined;
  /** True when the file ends in the middle of a line. */
  let isTorn = false;
  let dropped = 0;
  /** Dropped lines that no notice reported yet. */
  let unreported = 0;
  let because = '';
  let retry: NodeJS.Timeout | undefined;

  function drop(lines: number, reason: string): void {
    dropped += lines;
    unreported += lines;
    because = reason;
  }

  function next(): typeof current {
    const line = unreported > 0 ? lossNotice(unreported, because) : waiting.shift();
    if (line === undefined) return undefined;
    if (unreported === 0) waitingLength -= line.length;
    return { rest: Buffer.from(isTorn ? `\n${line}` : line), reports: unreported };
  }

  function dropWaiting(reason: string): void {
    drop(waiting.length + (current?.reports === 0 ? 1 : 0), reason);
    current = undefined;
    waiting.length = 0;
    waitingLength = 0;
  }

  function writeWaiting(): void {
    clearTimeout(retry);
    try {
      while ((current ??= next())) {
        while (current.rest.length > 0) {
          current.rest = current.rest.subarray(writeSync(fd, current.rest));
          isTorn = current.rest.length > 0;
        }
        unreported -= current.reports;
        current = undefined;
      }
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') retry = setTimeout(writeWaiting, retryMs).unref();
      else dropWaiting(toError(error).message);
    }
  }

  return {
    droppedLines: () => dropped,
    write: (line: string): void => {
      if (waitingLength > 0 && waitingLength + line.length > maxWaitingLength) {
        drop(1, 'the reader of the log did not keep up');
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      writeWaiting();
    },
    flush: async (): Promise<void> => {
      const isBehind = (): boolean => current !== undefined;
      for (let retries = 0; isBehind() && retries < maxFlushRetries; retries += 1) await delay(retryMs);
    },
  };
}
