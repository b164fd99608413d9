import { type Logger, pino } from 'pino';
import { createLogOutput, type LogOutput, openStandardError } from './log-output.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const logFormats = ['json', 'logfmt'] as const;

/** Fields that must never be printed, should one ever be logged; the Secret type is the first lock. */
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

export interface Log extends Pick<LogOutput, 'flush'> {
  readonly logger: Logger;
  /** Returns the number of lines that could not be written so far. */
  readonly droppedLines: () => number;
}

/** Logs to standard error; standard output is for people. */
export function createLog(options: { level: string; format: string }): Log {
  const inFormat = options.format === 'logfmt' ? logfmt : (line: string) => line;
  const output = createLogOutput({
    fd: openStandardError(process.stderr),
    lossNotice: (lines, because) =>
      inFormat(
        `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, because, msg: 'log lines were lost' })}\n`,
      ),
  });
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
  };
  return {
    logger: pino(settings, { write: (line: string) => output.write(inFormat(line)) }),
    droppedLines: () => output.droppedLines,
    flush: () => output.flush(),
  };
}

/** Rewrites a JSON line of pino as logfmt, as the exporters of the Prometheus project print them. */
function logfmt(line: string): string {
  const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
  return `${fields.map(([name, value]) => `${name}=${quoted(value)}`).join(' ')}\n`;
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w.:/+-]+$/.test(text) ? text : JSON.stringify(text);
}
