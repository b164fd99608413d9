import { parseArgs } from 'node:util';
import { parseListenAddress } from '../http/listen.ts';
import { isOneOf } from '../lib/check.ts';
import { oneLine } from '../lib/one-line.ts';
import { type Flags, UsageError } from './command.ts';
import { logFormats, logLevels } from './log.ts';

const options = {
  'config.file': { type: 'string' },
  'web.listen-address': { type: 'string' },
  'log.level': { type: 'string' },
  'log.format': { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** What a value may look like, for messages. */
const examples: Readonly<Record<string, string>> = {
  'config.file': 'zlb.yml',
  'web.listen-address': ':9444',
  'log.level': 'info',
  'log.format': 'json',
};

/** The flags and the other words of a command line; throws a UsageError that never repeats the value of a flag. */
export function parseFlags(words: readonly string[]): {
  readonly flags: Flags;
  readonly positionals: readonly string[];
} {
  // Not strict: the messages of parseArgs explain its own rules, in several sentences.
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options,
  });
  for (const token of tokens) if (token.kind === 'option') checkToken(token);
  const { 'log.level': level, 'log.format': format, 'web.listen-address': address } = values;
  if (level !== undefined && !isOneOf(logLevels, level))
    throw new UsageError(`--log.level must be one of ${logLevels.join(', ')}`);
  if (format !== undefined && !isOneOf(logFormats, format))
    throw new UsageError(`--log.format must be one of ${logFormats.join(', ')}`);
  if (typeof address === 'string' && !parseListenAddress(address))
    throw new UsageError('--web.listen-address must be host:port or :port, for example :9444');
  return { flags: values, positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkToken({ name, rawName, value, inlineValue }: OptionToken): void {
  if (!Object.hasOwn(options, name))
    throw new UsageError(`there is no flag ${oneLine(rawName, 64)}; --help lists them`);
  const example = examples[name];
  if (example === undefined) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value`);
    return;
  }
  // The next word was taken for the value, and is a flag itself.
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw new UsageError(`--${name} needs a value, such as --${name}=${example}`);
  if (value === '')
    throw new UsageError(`--${name} is empty; give it a value, such as --${name}=${example}, or leave it out`);
}
