// Describes the command line: each command, its flags and its help. cli.ts reads the words, finds
// the command and loads only its file, because a health check every few seconds must not load a
// server. A command keeps no state; what it opens ends with it. Read on in flag.ts and run.ts (the
// exporter).

import { parseShard } from '../config/shard.ts';
import { parseListenAddress } from '../lib/address.ts';
import { momentOf } from '../lib/time.ts';
import { adminFlags, adminHelp } from './admin/help.ts';
import { type FlagTable, gatewayFlags, gatewayUrl, isDuration, linesOf } from './flag.ts';

/** A command: its flags, and its page of help. */
export interface Description {
  readonly flags: FlagTable;
  readonly takesNoArguments?: true;
  readonly help: string;
}

const configurationFlag = {
  'config.file': {
    example: 'zlb.yml',
    value: 'PATH',
    values: 'files',
    about: 'else ZLB_CONFIG_FILE or /etc/zlb-exporter/zlb.yml',
  },
} as const;

const listenerFlags = {
  'web.listen-address': {
    example: ':9444',
    value: 'ADDR',
    about: 'host:port or :port (default :9444)',
    refuse: (value: string) =>
      parseListenAddress(value) ? undefined : 'must be host:port or :port, for example :9444',
  },
  'web.config.file': {
    example: 'web.yml',
    value: 'PATH',
    values: 'files',
    about: 'TLS and passwords of the metrics listener',
  },
} as const;

const logFlags = {
  'log.level': {
    example: 'info',
    label: '--log.level, --log.format',
    about: 'debug, info (default), warn, error; json or logfmt',
    values: ['debug', 'info', 'warn', 'error'],
  },
  'log.format': { example: 'json', values: ['json', 'logfmt'] },
} as const;

const exporterFlags = {
  ...configurationFlag,
  ...listenerFlags,
  'web.enable-lifecycle': { about: 'let POST /-/reload read the configuration again' },
  shard: {
    example: '0/3',
    value: 'INDEX/COUNT',
    about: 'watch a part of the appliances, such as 0/3',
    refuse: (value: string) =>
      parseShard(value)
        ? undefined
        : 'must be INDEX/COUNT with an index from 0, as pods are counted: of three shards the last is 2/3 (1000 at most)',
  },
  ...logFlags,
} as const;

const generalFlags = {
  version: { short: 'V', label: '--version, -h, --help', about: '' },
  help: { short: 'h' },
} as const;

const auditFlags = {
  ...configurationFlag,
  last: {
    example: `120:${'0'.repeat(64)}`,
    value: 'NUMBER:HASH',
    refuse: (value: string) =>
      /^[1-9]\d{0,14}:[0-9a-f]{64}$/.test(value)
        ? undefined
        : 'must be the number of a record and its hash, 64 hex digits, with a colon between them',
  },
} as const;

const deliverFlags = {
  cert: { example: 'fullchain.pem', values: 'files' },
  key: { example: 'privkey.pem', values: 'files' },
  only: { example: 'lb-1/shop', value: 'APPLIANCE/FARM', about: 'these farms only; * stands for any characters' },
  replaces: { example: 'NAME', value: 'NAME', about: 'common name or file of the old certificate' },
  'dry-run': { about: 'show what would be done' },
  'change-key-type': { about: 'ECDSA in the place of RSA, or the reverse' },
  'incomplete-chain': { about: 'also without all intermediates' },
  force: { label: '--force --reason=TEXT', about: 'also for fewer names, or beside an own cipher list' },
  reason: { example: 'TICKET-42' },
  wait: { example: '5m', value: 'DURATION', about: 'for each restart (default 2m)', refuse: isDuration },
  'admin.url': {
    example: gatewayUrl,
    label: '--admin.url=URL, --admin.token-file=PATH, …',
    about: 'as for admin',
  },
  ...gatewayFlags,
} as const;

const checkFlags = {
  quiet: { about: 'print only what is wrong' },
  offline: { about: 'only read the files; ask no appliance' },
  json: { about: 'print one JSON document (docs/command-line.md)' },
} as const;

const initFlags = {
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
    about: 'the certificate that it must show (SHA-256)',
    refuse: (value: string) =>
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
  'trust-first': { about: 'without a terminal: pin what it shows' },
  'config.file': { example: 'zlb.yml', value: 'PATH', values: 'files', about: 'what to write (default zlb.yml)' },
  append: { about: 'add the appliance to a configuration that exists' },
} as const;

const simulateFlags = {
  fault: { example: 'lb-madrid/hung-proxy/shop', value: 'LIST', about: 'faults to begin with, separated by commas' },
} as const;

/** How commands reach a running exporter. */
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
} as const;

const historyFlags = {
  since: {
    example: '2h',
    value: 'TIME',
    about: 'a duration, or a moment such as 2026-11-21T02:00Z',
    refuse: (value: string) =>
      Number.isNaN(momentOf(value, 0)) ? 'must be a duration such as 2h, or a moment in ISO 8601' : undefined,
  },
  json: { about: 'print the answer of /api/history' },
  ...connectionFlags,
} as const;

const pluginFlags = {
  warning: { example: '28', short: 'w', label: '-w, -c RANGE', about: 'what is good: else WARNING, CRITICAL' },
  critical: { example: '3', short: 'c' },
  timeout: {
    example: '10',
    short: 't',
    label: '-t SECONDS, -v',
    about: 'limit of the answer (default 8); list each object',
    refuse: (value: string) => (/^[1-9]\d{0,2}$/.test(value) ? undefined : 'must be a number of seconds from 1 to 999'),
  },
  verbose: { short: 'v' },
  ...connectionFlags,
} as const;

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

/** The exporter itself; its help is one screen of 24 lines and 80 columns. */
export const exporter: Description = {
  flags: exporterFlags,
  help: `Usage: zlb-exporter [COMMAND] [flags]; COMMAND --help explains one of these:
  init HOST[:PORT]           write a configuration for an appliance
  check                      try the configuration and each appliance, read-only
  fingerprint HOST[:PORT]    print the SHA-256 of a certificate, to pin it
  admin APPLIANCE …          look and change through a running exporter
  deliver                    bring a renewed certificate to its farms
  token                      make a token for that, and its digest
  audit verify [FILE]        verify the record of changes
  demo                       the exporter on simulated appliances
  simulate [FOLDER]          only the simulated appliances
  healthcheck                ask the exporter here whether it is healthy
  history [APPLIANCE]        ask the exporter what changed, and by whom
  plugin CHECK APPLIANCE     a check for Icinga, Nagios and the like
  completion SHELL           print the completion for bash, zsh or fish
${linesOf({ ...exporterFlags, ...generalFlags })}
One appliance needs no file: set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE.
Exit codes: 0 after SIGTERM or SIGINT, 2 for bad flags or configuration, else 1.`,
};

/** The commands; for a flag of several, messages name the first. */
export const commands = {
  admin: { flags: adminFlags, help: adminHelp },
  deliver: {
    flags: deliverFlags,
    help: `Usage: zlb-exporter deliver --cert=FULLCHAIN --key=KEY [flags]

Brings a renewed certificate to every farm that has one for the same names, with
the same type of key (certbot makes ECDSA keys): uploads it, attaches it, takes
the old one off, and restarts the farm if the appliance asks for it. A name that
would be lost stops it. A farm that fails gets its old certificate back, and the
others are not tried. At the end it looks at what is served, where vip is on.

Flags
${linesOf(deliverFlags)}

Examples
  certbot renew --deploy-hook 'zlb-exporter deliver'
  lego run … --deploy-hook 'zlb-exporter deliver'      # lego 4: --renew-hook
  exec zlb-exporter deliver -- "$@"      # the hook script of dehydrated

Exit codes: 0 all of these farms have it, 1 some have not, 2 the call is wrong.`,
  },
  check: {
    // A unit gives it all flags of the service.
    flags: { ...checkFlags, ...exporterFlags },
    takesNoArguments: true,
    help: `Usage: zlb-exporter check [--config.file=PATH] [--shard=INDEX/COUNT] [flags]
       zlb-exporter check --web.config.file=PATH

Validates the configuration, makes each call of polling once on each appliance,
and prints a report: how it was reached, its certificate, the cost of polling,
what is unknown, and what to do about each finding.
It only reads, one call at a time.

Flags
${linesOf(checkFlags)}

Examples
  zlb-exporter check --config.file=zlb.yml
  zlb-exporter check --config.file=zlb.yml --quiet

Exit codes: 0 all can be polled, 1 some cannot, 2 the configuration is wrong.`,
  },
  init: {
    flags: initFlags,
    help: `Usage: zlb-exporter init HOST[:PORT] [flags]

Shows the fingerprint of the appliance's certificate, asks for a name and an API
key, tries the key, and writes a configuration that pins the certificate. The
key goes into a file of its own, NAME.key, that only its owner can read. The
port is 444 unless it is given.

Flags
${linesOf(initFlags)}

Examples
  zlb-exporter init 192.0.2.10
  zlb-exporter init lb-rome.example.org:8444 --append

Exit codes: 0 written, 1 not reachable or the key is refused, 2 the call is
wrong. What cannot be tried is not written.`,
  },
  history: {
    flags: historyFlags,
    help: `Usage: zlb-exporter history [APPLIANCE] [farm=NAME] [flags]

Prints what a running exporter has seen to change, the newest first: states, the
configuration, calls of the gateway, reloads and restarts, each with before and
after, and by whom. Times are in UTC.

Flags
${linesOf(historyFlags)}

Examples
  zlb-exporter history lb-paris farm=shop --since=2h
  zlb-exporter history --since=1d --json | jq -r '.events[].by'

Exit codes: 0 printed, 1 the exporter gives no answer, 2 the call is wrong.`,
  },
  plugin: {
    flags: pluginFlags,
    help: `Usage: zlb-exporter plugin CHECK APPLIANCE [NAME] [flags]

A check for Icinga, Nagios and the like, by the readings of a running exporter.
A reading that is absent or too old is UNKNOWN. NAME may contain *.
  appliance           does it answer, and is it read completely
  farm                is it up; -w, -c: percent of its backends (100; -)
  connections         -w, -c: established ones of a farm (else half-open ones)
  certificate         -w, -c: days to its end (else the windows of the alerts)
  activation          the same for the licence
Flags
${linesOf(pluginFlags)}
RANGE is 10:20 for from 10 to 20, 10: or ~:20 without an end, @10:20 for not
there; a number alone is the least percent or days, the most connections.

Examples
  zlb-exporter plugin farm lb-paris shop
  zlb-exporter plugin certificate lb-paris 'shop*' -w 30 -c 7

Exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, also for a wrong call.`,
  },
  fingerprint: {
    flags: {},
    help: `Usage: zlb-exporter fingerprint HOST[:PORT]

Prints the SHA-256 of the certificate that a server shows, for
tls.fingerprint_sha256; the port is 444 unless it is given. No key is sent.
Standard output has it as plain digits, standard error as openssl prints it.
Compare it with what the appliance itself says before you trust it.

Example
  zlb-exporter fingerprint 192.0.2.10:444`,
  },
  token: {
    flags: {},
    takesNoArguments: true,
    help: `Usage: zlb-exporter token

Makes a token for the admin gateway: alone on standard output, with the lines
for the configuration on standard error. It is shown once and stored nowhere.

Example
  (umask 077; zlb-exporter token > alice.token)`,
  },
  audit: {
    flags: auditFlags,
    help: `Usage: zlb-exporter audit verify [FILE] [--last=NUMBER:HASH]
       zlb-exporter audit export [FILE]

Reads the journal of the gateway, also while the exporter runs: FILE, or the
admin.journal_file of the configuration (--config.file, as for the exporter).
\`verify\` says whether a record was changed, removed or added; \`export\` prints
one JSON object a line, with the chain, for other programs.

Whoever can write the file can also write a whole new chain. With --last, verify
expects this record: the lines "journal opened", "journal closed" and "record"
of the exporter's log have seq and hash.

Examples
  zlb-exporter audit verify
  zlb-exporter audit export /var/backups/zlb-journal.db | jq .

Exit codes: 0 whole, 1 not whole or not readable.`,
  },
  demo: {
    flags: { ...listenerFlags, ...logFlags },
    takesNoArguments: true,
    help: `Usage: zlb-exporter demo [flags]

Runs the exporter with its gateway on simulated appliances, for a first look,
and prints what to open and what to try. It reads no configuration and connects
to nothing off this machine. zlb-exporter does the same where it finds no
configuration.

Example
  zlb-exporter demo --web.listen-address=127.0.0.1:9444`,
  },
  simulate: {
    flags: simulateFlags,
    help: `Usage: zlb-exporter simulate [FOLDER] [flags]

Starts the simulated appliances alone, and prints a configuration that watches
them, and how to cause faults. ZLB_API_KEY sets their key. A FOLDER keeps their
addresses, key and certificate, and FOLDER/zlb.yml: a configuration for them
works after a restart.

Flags
${linesOf(simulateFlags)}

Examples
  ZLB_API_KEY=secret zlb-exporter simulate
  zlb-exporter simulate simulation`,
  },
  healthcheck: {
    flags: listenerFlags,
    takesNoArguments: true,
    help: `Usage: zlb-exporter healthcheck [flags]

Asks the exporter on this machine for /-/healthy, for containers without a
shell or curl. It takes --web.listen-address and --web.config.file as they are
given to the exporter.

Example
  zlb-exporter healthcheck --web.listen-address=:9444

Exit codes: 0 healthy, 1 not.`,
  },
  completion: {
    flags: {},
    help: `Usage: zlb-exporter completion bash|zsh|fish

Prints a script that completes commands, flags and their values. Packages
install it for all three shells.

Examples
  source <(zlb-exporter completion bash)      # in ~/.bashrc
  source <(zlb-exporter completion zsh)       # in ~/.zshrc, after compinit
  zlb-exporter completion fish | source       # in ~/.config/fish/config.fish`,
  },
} as const satisfies Readonly<Record<string, Description>>;

export type CommandName = keyof typeof commands;

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(commands, word);
}

/** Returns the flags that a command takes; '' is the exporter itself. */
export function flagsOf(name: CommandName | ''): FlagTable {
  const { flags }: Description = name === '' ? exporter : commands[name];
  return { ...flags, ...generalFlags };
}
