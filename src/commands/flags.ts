import { parseArgs } from 'node:util';
import { parseListenAddress } from '../lib/address.ts';
import { closestWord, oneLine } from '../lib/text.ts';
import { isOneOf } from '../lib/check.ts';
import { parseShard } from '../config/shard.ts';
import { UsageError } from './usage-error.ts';
import { logFormats, logLevels } from '../app/log.ts';

/**
 * The commands that take a flag; '' is the exporter itself. The flags of `others` do not go with
 * `admin`, `deliver` and `plugin`, which talk to a running exporter.
 */
type Takers = 'all' | 'others' | readonly string[];

/** All flags; a flag with an example has a value. */
export const options = {
  'config.file': { type: 'string', example: 'zlb.yml', takers: 'others' },
  'web.listen-address': { type: 'string', example: ':9444', takers: 'others' },
  'web.config.file': { type: 'string', example: 'web.yml', takers: 'others' },
  'web.enable-lifecycle': { type: 'boolean', takers: 'others' },
  'log.level': { type: 'string', example: 'info', takers: 'others' },
  'log.format': { type: 'string', example: 'json', takers: 'others' },
  shard: { type: 'string', example: '0/3', takers: ['', 'check'] },
  'admin.url': { type: 'string', example: 'https://127.0.0.1:9445', takers: ['admin', 'deliver'] },
  'admin.token-file': { type: 'string', example: 'token.txt', takers: ['admin', 'deliver'] },
  'admin.ca-file': { type: 'string', example: 'ca.pem', takers: ['admin', 'deliver'] },
  'admin.cert-file': { type: 'string', example: 'me.pem', takers: ['admin', 'deliver'] },
  'admin.key-file': { type: 'string', example: 'me.key', takers: ['admin', 'deliver'] },
  body: { type: 'string', example: '@FILE', takers: ['admin'] },
  output: { type: 'string', example: 'backup.tar.gz', takers: ['admin'] },
  reason: { type: 'string', example: 'TICKET-42', takers: ['admin', 'deliver'] },
  confirm: { type: 'string', example: 'NAME', takers: ['admin'] },
  wait: { type: 'string', example: '5m', takers: ['admin', 'deliver'] },
  limit: { type: 'string', example: '20', takers: ['admin'] },
  principal: { type: 'string', example: 'alice', takers: ['admin'] },
  appliance: { type: 'string', example: 'lb-1', takers: ['admin'] },
  operation: { type: 'string', example: 'actOnFarm', takers: ['admin'] },
  event: { type: 'string', example: 'denied', takers: ['admin'] },
  state: { type: 'string', example: 'open', takers: ['admin'] },
  digest: { type: 'string', example: 'HEX', takers: ['admin'] },
  request: { type: 'boolean', takers: ['admin'] },
  'break-glass': { type: 'boolean', takers: ['admin'] },
  watch: { type: 'boolean', takers: ['admin'] },
  'dry-run': { type: 'boolean', takers: ['admin', 'deliver'] },
  force: { type: 'boolean', takers: ['admin', 'deliver'] },
  json: { type: 'boolean', takers: ['admin', 'check'] },
  yes: { type: 'boolean', takers: ['admin'] },
  'backup-first': { type: 'boolean', takers: ['admin'] },
  cert: { type: 'string', example: 'fullchain.pem', takers: ['deliver'] },
  key: { type: 'string', example: 'privkey.pem', takers: ['deliver'] },
  only: { type: 'string', example: 'lb-1/shop', takers: ['deliver'] },
  replaces: { type: 'string', example: 'NAME', takers: ['deliver'] },
  'change-key-type': { type: 'boolean', takers: ['deliver'] },
  quiet: { type: 'boolean', takers: ['check'] },
  name: { type: 'string', example: 'lb-paris', takers: ['init'] },
  'api-key-file': { type: 'string', example: 'lb-paris.key', takers: ['init'] },
  append: { type: 'boolean', takers: ['init'] },
  'exporter.url': { type: 'string', example: 'http://127.0.0.1:9444', takers: ['plugin'] },
  'exporter.user-file': { type: 'string', example: 'user.txt', takers: ['plugin'] },
  'exporter.ca-file': { type: 'string', example: 'ca.pem', takers: ['plugin'] },
  'exporter.cert-file': { type: 'string', example: 'me.pem', takers: ['plugin'] },
  'exporter.key-file': { type: 'string', example: 'me.key', takers: ['plugin'] },
  warning: { type: 'string', short: 'w', example: '28', takers: ['plugin'] },
  critical: { type: 'string', short: 'c', example: '3', takers: ['plugin'] },
  version: { type: 'boolean', takers: 'all' },
  help: { type: 'boolean', short: 'h', takers: 'all' },
} as const;

export type FlagName = keyof typeof options;

/** The flags that were given. */
export type Flags = {
  readonly [Name in FlagName]?:
    | ((typeof options)[Name] extends { readonly example: string } ? string : boolean)
    | undefined;
};

/**
 * Returns the flags and the other words of a command line; throws a UsageError, which never repeats
 * the value of a flag.
 */
export function parseFlags(words: readonly string[]): {
  readonly flags: Flags;
  readonly positionals: readonly string[];
} {
  // Not strict, because the messages of parseArgs are several sentences about its own rules.
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options,
  });
  for (const token of tokens) if (token.kind === 'option') checkToken(token);
  const { 'log.level': level, 'log.format': format, 'web.listen-address': address, shard } = values;
  if (level !== undefined && !isOneOf(logLevels, level))
    throw new UsageError(`--log.level must be one of ${logLevels.join(', ')}`);
  if (format !== undefined && !isOneOf(logFormats, format))
    throw new UsageError(`--log.format must be one of ${logFormats.join(', ')}`);
  if (typeof address === 'string' && !parseListenAddress(address))
    throw new UsageError('--web.listen-address must be host:port or :port, for example :9444');
  if (typeof shard === 'string' && !parseShard(shard))
    throw new UsageError(
      '--shard must be INDEX/COUNT with an index from 0, as pods are counted: of three shards the last is 2/3 (1000 at most)',
    );
  return { flags: values as Flags, positionals };
}

/**
 * Throws a UsageError for a flag that the command would ignore: an ignored `--dry-run` is worse
 * than none.
 */
export function refuseForeignFlags(flags: Flags, command = ''): void {
  for (const name of Object.keys(flags).filter(isFlagName)) {
    if (takes(command, name)) continue;
    const takers: Takers = options[name].takers;
    if (takers === 'others')
      throw new UsageError(
        `--${name} does not go with ${command}, which asks a running exporter; see ${command} --help`,
      );
    const [taker = ''] = takers;
    if (taker === '')
      throw new UsageError(`--${name} goes with the exporter itself and with check, not with ${command}`);
    if (command === 'deliver')
      throw new UsageError(`--${name} does not go with deliver; zlb-exporter deliver --help explains it`);
    throw new UsageError(`--${name} goes with zlb-exporter ${taker}; zlb-exporter ${taker} --help explains it`);
  }
}

/** Returns true if a command takes a flag; '' is the exporter itself. */
export function takes(command: string, name: FlagName): boolean {
  const takers: Takers = options[name].takers;
  if (takers === 'all') return true;
  return takers === 'others' ? !['admin', 'deliver', 'plugin'].includes(command) : takers.includes(command);
}

/** Returns the flags that a command takes; a flag with an example has a value. */
export function flagsOf(command: string): readonly { readonly name: string; readonly example?: string }[] {
  return Object.keys(options)
    .filter(isFlagName)
    .filter((name) => takes(command, name))
    .map((name) => ({ name, ...options[name] }));
}

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(options, name);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkToken({ name, rawName, value, inlineValue }: OptionToken): void {
  if (name === 'admin.token')
    throw new UsageError(
      'a token does not go on the command line, where others on the machine see it; put it into a file and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE',
    );
  if (!isFlagName(name))
    throw new UsageError(`there is no flag ${oneLine(rawName, 64)}; ${guessOf(name)}--help lists them`);
  const option = options[name];
  if (!('example' in option)) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value`);
    return;
  }
  const { example } = option;
  // parseArgs took the next flag for the value.
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw new UsageError(`--${name} needs a value, such as --${name}=${example}`);
  if (value === '')
    throw new UsageError(`--${name} is empty; give it a value, such as --${name}=${example}, or leave it out`);
}

/**
 * Returns the flag that was probably meant, by a part of its name (--config, --listen-address) or
 * by its spelling.
 */
function guessOf(name: string): string {
  const names = Object.keys(options);
  const whole = names.find((each) => each.startsWith(`${name}.`) || each.endsWith(`.${name}`));
  const guess = whole ?? closestWord(name, names);
  return guess ? `did you mean --${guess}? ` : '';
}
