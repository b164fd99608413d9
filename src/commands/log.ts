import { type Logger, pino } from 'pino';
import { createLogfmtStream } from './logfmt.ts';

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

/** Logs to standard error; standard output is for people. */
export function createLog(options: { level: string; format: string }): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
  };
  return options.format === 'logfmt'
    ? pino(settings, createLogfmtStream(process.stderr))
    : pino(settings, pino.destination(2));
}
