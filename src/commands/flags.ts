import { parseShard } from '../config/settings.ts';
import { parseListenAddress } from '../lib/address.ts';
import { momentOf, parseDuration } from '../lib/time.ts';

/** A flag; one with an example has a value. */
export interface Flag {
  readonly example?: string;
  readonly short?: string;
  /** Stands for the value in the help. */
  readonly value?: string;
  /** Its line in the help; a flag without one is explained beside another. */
  readonly about?: string;
  /** The beginning of that line, if it is not only the flag. */
  readonly label?: string;
  /** The values that shells complete: the only words that it can be, or the name of a file. */
  readonly values?: readonly string[] | 'files';
  /** Returns what the value must be; undefined for a right one. */
  readonly validate?: (value: string) => string | undefined;
}

export type FlagTable = Readonly<Record<string, Flag>>;

export function helpLines(flags: FlagTable, width = 25): string {
  return Object.entries(flags)
    .filter(([, { about }]) => about !== undefined)
    .map(([name, flag]) => `  ${labelOf(name, flag).padEnd(width)}  ${flag.about}`.trimEnd())
    .join('\n');
}

export function labelOf(name: string, { value, label }: Flag): string {
  return label ?? `--${name}${value === undefined ? '' : `=${value}`}`;
}

/** Returns what the value of a flag must be; undefined for a right one. */
export function flagValueError({ values, validate }: Flag, value: string): string | undefined {
  if (Array.isArray(values) && !values.includes(value)) return `must be one of ${values.join(', ')}`;
  return validate?.(value);
}

function durationError(value: string): string | undefined {
  return parseDuration(value) === undefined ? 'must be a duration such as 90s or 5m' : undefined;
}

const configurationFlag = {
  'config.file': {
    example: 'zlb.yml',
    value: 'PATH',
    values: 'files',
    about: 'else ZLB_CONFIG_FILE or /etc/zlb-exporter/zlb.yml',
  },
} as const satisfies FlagTable;

export const listenerFlags = {
  'web.listen-address': {
    example: ':9444',
    value: 'ADDR',
    about: 'host:port or :port (default :9444)',
    validate: (value: string) =>
      parseListenAddress(value) ? undefined : 'must be host:port or :port, for example :9444',
  },
  'web.config.file': {
    example: 'web.yml',
    value: 'PATH',
    values: 'files',
    about: 'TLS and passwords of the metrics listener',
  },
} as const satisfies FlagTable;

export const logFlags = {
  'log.level': {
    example: 'info',
    label: '--log.level, --log.format',
    about: 'debug, info (default), warn, error; json or logfmt',
    values: ['debug', 'info', 'warn', 'error'],
  },
  'log.format': { example: 'json', values: ['json', 'logfmt'] },
} as const satisfies FlagTable;

export const exporterFlags = {
  ...configurationFlag,
  ...listenerFlags,
  'web.enable-lifecycle': { about: 'let POST /-/reload read the configuration again' },
  shard: {
    example: '0/3',
    value: 'INDEX/COUNT',
    about: 'watch a part of the appliances, such as 0/3',
    validate: (value: string) =>
      parseShard(value)
        ? undefined
        : 'must be INDEX/COUNT with an index from 0, as pods are counted: of three shards the last is 2/3 (1000 at most)',
  },
  ...logFlags,
} as const satisfies FlagTable;

export const generalFlags = {
  version: { short: 'V', label: '--version, -h, --help', about: '' },
  help: { short: 'h' },
} as const satisfies FlagTable;

export const auditFlags = {
  ...configurationFlag,
  last: {
    example: `120:${'0'.repeat(64)}`,
    value: 'NUMBER:HASH',
    validate: (value: string) =>
      /^[1-9]\d{0,14}:[0-9a-f]{64}$/.test(value)
        ? undefined
        : 'must be the number of a record and its hash, 64 hex digits, with a colon between them',
  },
} as const satisfies FlagTable;

/** How the gateway is reached, beside its address. */
const gatewayFlags = {
  'admin.token-file': { example: 'token.txt', values: 'files' },
  'admin.ca-file': { example: 'ca.pem', values: 'files' },
  'admin.cert-file': { example: 'me.pem', values: 'files' },
  'admin.key-file': { example: 'me.key', values: 'files' },
} as const satisfies FlagTable;
const gatewayUrl = 'https://127.0.0.1:9445';

/** The flags of admin; each of its words takes some of them. */
export const adminFlags = {
  'dry-run': { about: 'show what would be sent and which guards object; change nothing' },
  reason: { example: 'TICKET-42', value: 'TEXT', about: 'why, for the audit; recipes, --ask, freeze and deny need it' },
  confirm: { example: 'NAME', value: 'NAME', about: 'for what cannot be undone: the name of the object' },
  force: { about: 'override the guards; --break-glass sends without approval (need --reason)' },
  'break-glass': {},
  'backup-first': { about: 'recipes: back up the configuration first' },
  yes: { about: 'agree in advance; to approve, add --digest=HEX of the plan you looked at' },
  digest: { example: 'HEX' },
  wait: {
    example: '5m',
    label: '--wait=5m, --detach',
    about: 'recipes: wait that long at most; go on without this command',
    validate: durationError,
  },
  detach: {},
  body: {
    example: '@FILE',
    value: '@FILE',
    about: 'send a file, or standard input (--body=-); also for secrets',
  },
  output: { example: 'backup.tar.gz', value: 'FILE', values: 'files', about: 'save the answer' },
  json: { about: 'the exact answer, for scripts' },
  limit: {
    example: '20',
    label: '--limit, --principal, --appliance, --operation, --event',
    about: '   filters of admin audit',
  },
  principal: { example: 'alice' },
  appliance: { example: 'lb-1' },
  operation: { example: 'actOnFarm' },
  event: { example: 'denied' },
  state: { example: 'open' },
  ask: {},
  watch: {},
  'admin.url': {
    example: gatewayUrl,
    label: '--admin.url=URL, --admin.token-file=PATH, --admin.ca-file, --admin.cert-file, --admin.key-file',
    about: '',
  },
  ...gatewayFlags,
} as const satisfies FlagTable;

export const deliverFlags = {
  cert: { example: 'fullchain.pem', values: 'files' },
  key: { example: 'privkey.pem', values: 'files' },
  only: { example: 'lb-1/shop', value: 'APPLIANCE/FARM', about: 'only these farms; * stands for any characters' },
  replaces: { example: 'NAME', value: 'NAME', about: 'common name or file of the old certificate' },
  'dry-run': { about: 'show what would be done' },
  'change-key-type': { about: 'replace an RSA key by an ECDSA key, or the reverse' },
  'incomplete-chain': { about: 'accept a chain without all intermediates' },
  force: { label: '--force --reason=TEXT', about: 'accept fewer names, or a custom cipher list' },
  reason: { example: 'TICKET-42' },
  wait: { example: '5m', value: 'DURATION', about: 'for each restart (default 2m)', validate: durationError },
  'admin.url': {
    example: gatewayUrl,
    label: '--admin.url=URL, --admin.token-file=PATH, …',
    about: 'as for admin',
  },
  ...gatewayFlags,
} as const satisfies FlagTable;

export const checkFlags = {
  quiet: { about: 'print only what is wrong' },
  offline: { about: 'only read the files; ask no appliance' },
  json: { about: 'print one JSON document (docs/command-line.md)' },
} as const satisfies FlagTable;

export const initFlags = {
  name: { example: 'lb-paris', value: 'NAME', about: 'do not ask for the name' },
  'api-key-file': {
    example: 'lb-paris.key',
    value: 'FILE',
    values: 'files',
    about: 'do not ask for the key: it is in this file',
  },
  fingerprint: {
    example: 'AB:CD:…',
    value: 'HEX',
    about: 'the certificate that it must present (SHA-256)',
    validate: (value: string) =>
      /^[\da-f]{64}$/i.test(value.replaceAll(':', ''))
        ? undefined
        : 'must be 64 hex digits, with or without colons, as zlb-exporter fingerprint HOST prints',
  },
  'ca-file': {
    example: 'ca.pem',
    value: 'PATH',
    values: 'files',
    about: 'the authority of its certificate, instead of a pin',
  },
  'trust-first': { about: 'without a terminal: pin what it presents' },
  'config.file': { example: 'zlb.yml', value: 'PATH', values: 'files', about: 'what to write (default zlb.yml)' },
  append: { about: 'add the appliance to a configuration that exists' },
} as const satisfies FlagTable;

export const simulateFlags = {
  fault: { example: 'lb-madrid/hung-proxy/shop', value: 'LIST', about: 'faults to begin with, separated by commas' },
} as const satisfies FlagTable;

const connectionFlags = {
  'exporter.url': {
    example: 'http://127.0.0.1:9444',
    value: 'URL',
    about: 'default ZLB_EXPORTER_URL or http://127.0.0.1:9444',
  },
  'exporter.user-file': { example: 'user.txt', value: 'PATH', values: 'files', about: 'one line, user:password' },
  'exporter.ca-file': {
    example: 'ca.pem',
    values: 'files',
    label: '--exporter.ca-file, --exporter.cert-file, --exporter.key-file',
    about: '',
  },
  'exporter.cert-file': { example: 'me.pem', values: 'files' },
  'exporter.key-file': { example: 'me.key', values: 'files' },
} as const satisfies FlagTable;

export const historyFlags = {
  since: {
    example: '2h',
    value: 'TIME',
    about: 'a duration, or a moment such as 2026-11-21T02:00Z',
    validate: (value: string) =>
      Number.isNaN(momentOf(value, 0)) ? 'must be a duration such as 2h, or a moment in ISO 8601' : undefined,
  },
  json: { about: 'print the answer of /api/history' },
  ...connectionFlags,
} as const satisfies FlagTable;

export const pluginFlags = {
  warning: { example: '28', short: 'w', label: '-w, -c RANGE', about: 'the good range; otherwise WARNING, CRITICAL' },
  critical: { example: '3', short: 'c' },
  timeout: {
    example: '10',
    short: 't',
    label: '-t SECONDS, -v',
    about: 'time limit (default 8); list each object',
    validate: (value: string) =>
      /^[1-9]\d{0,2}$/.test(value) ? undefined : 'must be a number of seconds from 1 to 999',
  },
  verbose: { short: 'v' },
  ...connectionFlags,
} as const satisfies FlagTable;

type FlagsOf<Table> = {
  readonly [Name in keyof Table]?: (Table[Name] extends { readonly example: string } ? string : boolean) | undefined;
};

export type Flags = FlagsOf<typeof exporterFlags> &
  FlagsOf<typeof generalFlags> &
  FlagsOf<typeof adminFlags> &
  FlagsOf<typeof auditFlags> &
  FlagsOf<typeof deliverFlags> &
  FlagsOf<typeof checkFlags> &
  FlagsOf<typeof initFlags> &
  FlagsOf<typeof simulateFlags> &
  FlagsOf<typeof historyFlags> &
  FlagsOf<typeof pluginFlags>;

export type FlagName = keyof Flags;
