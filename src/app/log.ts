import { constants, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import { errorCode } from '../lib/check.ts';
import { escapeUnseen } from '../lib/text.ts';

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
  // Names come from appliances, and a terminal would obey them: pino escapes only characters below a blank.
  return { logger: pino(settings, { write: (line: string) => write(escapeUnseen(inFormat(line))) }), ...output };
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

/** Bytes that wait for a slow reader: about 1,000 lines, beyond the 64 kB that a pipe holds. */
const maxWaitingBytes = 262_144;
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
 * lost. It never throws and never blocks: lines wait for a slow reader or a full disk, and are
 * dropped and counted beyond that. `lossNotice` renders the line that reports how many were lost.
 */
function createLogOutput(fd: number, lossNotice: (lines: number, because: string) => string) {
  const output = pino.destination({
    dest: fd,
    sync: true,
    maxLength: maxWaitingBytes,
    // Otherwise it would sleep until the reader goes on.
    retryEAGAIN: () => false,
  });
  let dropped = 0;
  let reported = 0;
  let because = '';
  let hasReaderLeft = false;
  let retry: NodeJS.Timeout | undefined;

  output.on('drop', () => {
    dropped += 1;
  });
  output.on('error', (error) => {
    hasReaderLeft = errorCode(error) === 'EPIPE';
    because = errorCode(error) === 'EAGAIN' ? 'the reader of the log did not keep up' : error.message;
    retry ??= setTimeout(() => {
      retry = undefined;
      output.write('');
    }, retryMs).unref();
  });
  output.on('drain', () => {
    clearTimeout(retry);
    retry = undefined;
    if (dropped === reported) return;
    const lines = dropped - reported;
    reported = dropped;
    output.write(lossNotice(lines, because));
  });

  return {
    droppedLines: () => dropped,
    write: (line: string): void => {
      if (hasReaderLeft) dropped += 1;
      else output.write(line);
    },
    flush: async (): Promise<void> => {
      const isBehind = (): boolean => retry !== undefined && !hasReaderLeft;
      for (let retries = 0; isBehind() && retries < maxFlushRetries; retries += 1) await delay(retryMs);
    },
  };
}
