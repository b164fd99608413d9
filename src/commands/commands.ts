// Describes the command line: each command, its flags and its help. cli.ts reads the words, finds
// the command and loads only its file, because a health check every few seconds must not load a
// server. A command keeps no state; what it opens ends with it. Read on in flags.ts and run.ts (the
// exporter).

import {
  type FlagTable,
  adminFlags,
  auditFlags,
  checkFlags,
  deliverFlags,
  exporterFlags,
  generalFlags,
  helpLines,
  historyFlags,
  initFlags,
  listenerFlags,
  logFlags,
  pluginFlags,
  simulateFlags,
} from './flags.ts';

/** A command: its flags, and its page of help. */
export interface Description {
  readonly flags: FlagTable;
  readonly takesNoArguments?: true;
  readonly help: string;
}

/** The exporter itself; its help is one screen of 24 lines and 80 columns. */
export const exporter: Description = {
  flags: exporterFlags,
  help: `Usage: zlb-exporter [COMMAND] [flags]; COMMAND --help explains one of these:
  init HOST[:PORT]           write a configuration for an appliance
  check                      try the configuration and each appliance, read-only
  fingerprint HOST[:PORT]    print the SHA-256 of a certificate, to pin it
  admin APPLIANCE …          look and change through a running exporter
  deliver                    bring a renewed certificate to its farms
  token                      create a token for admin, and its digest
  audit verify [FILE]        verify the record of changes
  demo                       the exporter on simulated appliances
  simulate [FOLDER]          only the simulated appliances
  healthcheck                ask the exporter here whether it is healthy
  history [APPLIANCE]        ask the exporter what changed, and by whom
  plugin CHECK APPLIANCE     a check for Icinga, Nagios and the like
  completion SHELL           print the completion for bash, zsh or fish
${helpLines({ ...exporterFlags, ...generalFlags })}
One appliance needs no file: set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE.
Exit codes: 0 after SIGTERM or SIGINT, 2 for bad flags or configuration, else 1.`,
};

/** The commands; for a flag of several, messages name the first. */
export const commands = {
  admin: {
    flags: adminFlags,
    help: `Usage: zlb-exporter admin APPLIANCE OPERATION [name=value …]  one call; name:=JSON for lists
       zlb-exporter admin APPLIANCE RECIPE name=value …       several calls, with a plan
       zlb-exporter admin WORD                                ask the gateway

Operations   a key (actOnFarm), or a path (PUT /farms/shop/actions, /farms/shop); values fill
             the path, then the body
  admin operations farm backend             find operations, with their routes and risks
  admin parameters lb-1 createFarm          what an operation takes, as the appliance says
  admin lb-1 listFarms
  admin lb-1 actOnFarm farmname=shop action=stop --reason=TICKET-42 --dry-run
  admin lb-1 downloadBackup name=weekly --output=weekly.tar.gz
Recipes
  drain-backend farm=F backend=IP:PORT [service=S]    out of service; wait until idle (--wait=5m)
  restore-backend farm=F backend=IP:PORT [service=S]  back into service
  restart-farm farm=F                                 with checks before and after
  replace-certificate farm=F file=PATH [old=N] [incomplete_chain=true]
  install-activation file=PATH
  backup [name=N]
  send-logs to=IP:PORT                                requests are counted; to=off ends it
Words   appliances, whoami, operations, parameters, audit, frozen, freeze --reason=TEXT, unfreeze
Changes, for a second person to approve
  admin lb-1 restart-farm farm=shop --ask --reason=TICKET-42    ask; nothing is sent
  admin changes [list --state=open,denied]    and changes show ID, cancel ID
  admin changes approve ID [--watch]          and changes deny ID --reason=TEXT

${helpLines(adminFlags, 19)}
Every change asks before it is sent; without a terminal it needs --yes.
Environment: ZLB_ADMIN_URL (or http://127.0.0.1:9445), ZLB_ADMIN_TOKEN_FILE or ZLB_ADMIN_TOKEN.
Exit codes: 0 done, 1 refused or failed, 2 usage error or nobody agreed, 3 it waits for approval.`,
  },
  deliver: {
    flags: deliverFlags,
    help: `Usage: zlb-exporter deliver --cert=FULLCHAIN --key=KEY [flags]

Delivers a renewed certificate to every farm that has one for the same names and
with the same type of key (certbot creates ECDSA keys): uploads it, attaches it,
detaches the old one, and restarts the farm if the appliance asks for it. It
stops if a name would be lost. A farm that fails gets its old certificate back,
and ends the delivery. Where vip is on, it checks at the end what is served.

Flags
${helpLines(deliverFlags)}

Examples
  certbot renew --deploy-hook 'zlb-exporter deliver'
  lego run … --deploy-hook 'zlb-exporter deliver'      # lego 4: --renew-hook
  exec zlb-exporter deliver -- "$@"      # the hook script of dehydrated

Exit codes: 0 all of these farms have it, 1 some do not, 2 usage error.`,
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
${helpLines(checkFlags)}

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
${helpLines(initFlags)}

Examples
  zlb-exporter init 192.0.2.10
  zlb-exporter init lb-rome.example.org:8444 --append

Exit codes: 0 written, 1 not reachable or the key is refused, 2 usage error.
What cannot be tried is not written.`,
  },
  history: {
    flags: historyFlags,
    help: `Usage: zlb-exporter history [APPLIANCE] [farm=NAME] [flags]

Prints the changes that a running exporter has seen, newest first: states, the
configuration, calls of the gateway, reloads and restarts, each with the values
before and after, and who made it. Times are in UTC.

Flags
${helpLines(historyFlags)}

Examples
  zlb-exporter history lb-paris farm=shop --since=2h
  zlb-exporter history --since=1d --json | jq -r '.events[].by'

Exit codes: 0 printed, 1 the exporter did not answer, 2 usage error.`,
  },
  plugin: {
    flags: pluginFlags,
    help: `Usage: zlb-exporter plugin CHECK APPLIANCE [NAME] [flags]

A check for Icinga, Nagios and the like, by the readings of a running exporter.
A reading that is missing or too old is UNKNOWN. NAME may contain *.
  appliance           does it answer, and is it read completely
  farm                is it up; -w, -c: percent of its backends (100; -)
  connections         -w, -c: established ones of a farm (else half-open ones)
  certificate         -w, -c: days until it expires (default: as the alerts)
  activation          the same for the licence
Flags
${helpLines(pluginFlags)}
RANGE is 10:20 for 10 to 20, 10: or ~:20 with one limit, @10:20 for anything
else; a single number is the least percent or days, or the most connections.

Examples
  zlb-exporter plugin farm lb-paris shop
  zlb-exporter plugin certificate lb-paris 'shop*' -w 30 -c 7

Exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, also for a usage error.`,
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

Creates a token for the admin gateway. Standard output has only the token,
standard error the lines for the configuration. It is stored nowhere.

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

Exit codes: 0 intact, 1 not intact or not readable.`,
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
${helpLines(simulateFlags)}

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
