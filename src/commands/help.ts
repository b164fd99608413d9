/** The text of `--help`: one screen of 24 lines and 80 columns. */
export const help = `Usage: zlb-exporter [flags]            the exporter, or a demonstration
       zlb-exporter COMMAND [flags]    COMMAND --help explains it

Commands
  init HOST[:PORT]           write a configuration for an appliance
  check                      try the configuration and each appliance, read-only
  fingerprint HOST[:PORT]    print the SHA-256 of a certificate, to pin it
  admin APPLIANCE …          look and change through a running exporter
  deliver                    bring a renewed certificate to its farms
  token                      make a token for that, and its digest
  audit verify FILE          verify the record of changes
  simulate [FOLDER]          only the simulated appliances
  healthcheck                ask the exporter here whether it is healthy
  plugin CHECK APPLIANCE     a check for Icinga, Nagios and the like
Flags
  --config.file=PATH         the configuration; SIGHUP reads it again
  --web.listen-address=ADDR  host:port or :port (default :9444)
  --web.config.file=PATH     TLS and passwords of the metrics listener
  --web.enable-lifecycle     let POST /-/reload read the configuration again
  --shard=INDEX/COUNT        watch a part of the appliances, such as 0/3
  --log.level, --log.format  debug, info (default), warn, error; json or logfmt
  --version, -h, --help
One appliance needs no file: set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE.
Exit codes: 0 after SIGTERM or SIGINT, 2 for bad flags or configuration, else 1.`;

/** The help text of the admin commands. */
export const adminHelp = `Usage: zlb-exporter admin APPLIANCE OPERATION [name=value …]  one call; name:=JSON for lists
       zlb-exporter admin APPLIANCE RECIPE name=value …       several calls, with a plan
       zlb-exporter admin WORD                                ask the gateway

Operations   a key (actOnFarm), or a path (PUT /farms/shop/actions, /farms/shop); values fill
             the path, then the body; farm= and farmname= mean the same everywhere
  admin operations farm backend             find operations, with their routes and risks
  admin parameters lb-1 createFarm          what an operation takes, as the appliance says
  admin lb-1 listFarms
  admin lb-1 actOnFarm farmname=shop action=stop --reason=TICKET-42 --dry-run
  admin lb-1 downloadBackup name=weekly --output=weekly.tar.gz
Recipes
  drain-backend farm=F backend=IP:PORT [service=S]    out of service; wait until idle (--wait=5m)
  restore-backend farm=F backend=IP:PORT [service=S]  and back
  restart-farm farm=F                                 with a look before and after
  replace-certificate farm=F file=PATH [name=N] [old=N]
  install-activation file=PATH
  backup [name=N]
Words   appliances, whoami, operations, parameters, audit, frozen, freeze --reason=TEXT, unfreeze
Change requests, for a second person to approve
  admin lb-1 restart-farm farm=shop --request --reason=TICKET-42    ask; nothing is sent
  admin requests [list --state=open,denied]    and requests show ID, cancel ID
  admin requests approve ID [--watch]          and requests deny ID --reason=TEXT

  --dry-run            show what would be sent and which guards object; change nothing
  --reason=TEXT        why, for the audit; recipes need it
  --confirm=NAME       for what cannot be undone: the name of the object
  --force              override the guards; --break-glass sends without approval (need --reason)
  --backup-first       back up the configuration before a change
  --yes                agree in advance; to approve also --digest=HEX, of the plan you looked at
  --wait=5m            recipes: wait that long at most
  --body=@FILE         send a file, or standard input (--body=-); for what is secret too
  --output=FILE        save the answer
  --json               the exact answer, for scripts
  --limit, --principal, --appliance, --operation, --event     filters of admin audit
  --admin.url=URL, --admin.token-file=PATH, --admin.ca-file, --admin.cert-file, --admin.key-file
Every change asks before it is sent; without a terminal it needs --yes.
Environment: ZLB_ADMIN_URL (or http://127.0.0.1:9445), ZLB_ADMIN_TOKEN_FILE or ZLB_ADMIN_TOKEN.
Exit codes: 0 done, 1 refused or failed, 2 a mistake or nobody agreed, 3 it waits for approval.`;

/** The text of `--help` after a command. */
export const helpOf: ReadonlyMap<string, string> = new Map([
  [
    'check',
    `Usage: zlb-exporter check --config.file=PATH [--shard=INDEX/COUNT] [flags]
       zlb-exporter check --web.config.file=PATH

Validates the configuration, makes each call of polling once on each appliance,
and prints a report: how it was reached, its certificate, the cost of polling,
what is unknown, and what to do about each finding.
It only reads, one call at a time.

Flags
  --quiet                    print only what is wrong
  --json                     print one JSON document (docs/operations.md)

Examples
  zlb-exporter check --config.file=zlb.yml
  zlb-exporter check --config.file=zlb.yml --quiet

Exit codes: 0 all can be polled, 1 some cannot, 2 the configuration is wrong.`,
  ],
  [
    'init',
    `Usage: zlb-exporter init HOST[:PORT] [flags]

Shows the fingerprint of the appliance's certificate, asks for a name and an API
key, tries the key, and writes a configuration that pins the certificate. The
key goes into a file of its own, NAME.key, that only its owner can read. The
port is 444 unless it is given.

Flags
  --name=NAME                do not ask for the name
  --api-key-file=FILE        do not ask for the key: it is in this file
  --config.file=PATH         what to write (default zlb.yml)
  --append                   add the appliance to a configuration that exists

Examples
  zlb-exporter init 192.0.2.10
  zlb-exporter init lb-rome.example.org:8444 --append

Exit codes: 0 written, 1 not reachable or the key is refused, 2 the call is
wrong. What cannot be tried is not written.`,
  ],
  [
    'fingerprint',
    `Usage: zlb-exporter fingerprint HOST[:PORT]

Prints the SHA-256 of the certificate that a server shows, for
tls.fingerprint_sha256; the port is 444 unless it is given. No key is sent.
Standard output has it as plain digits, standard error as openssl prints it.
Compare it with what the appliance itself says before you trust it.

Example
  zlb-exporter fingerprint 192.0.2.10:444`,
  ],
  [
    'deliver',
    `Usage: zlb-exporter deliver --cert=FULLCHAIN --key=KEY [flags]

Brings a renewed certificate to every farm that has one for the same name, with
the same type of key (certbot makes ECDSA keys): uploads it, attaches it, takes
the old one off, and restarts the farm if the appliance asks for it. A farm that
fails gets its old certificate back, and the others are not tried. At the end it
looks at what is served, where the collector vip is on.

Flags
  --only=APPLIANCE/FARM      these farms only; * stands for any characters
  --replaces=NAME            common name or file of the old certificate
  --dry-run                  show what would be done
  --change-key-type          ECDSA in the place of RSA, or the reverse
  --force --reason=TEXT      also for fewer names, or beside an own cipher list
  --wait=DURATION            for each restart (default 2m)
  --admin.url=URL, --admin.token-file=PATH, …  as for admin

Examples
  certbot renew --deploy-hook 'zlb-exporter deliver'
  lego … renew --renew-hook 'zlb-exporter deliver'
  exec zlb-exporter deliver -- "$@"      # the hook script of dehydrated

Exit codes: 0 all of these farms have it, 1 some have not, 2 the call is wrong.`,
  ],
  [
    'token',
    `Usage: zlb-exporter token

Makes a token for the admin gateway: alone on standard output, with the lines
for the configuration on standard error. It is shown once and stored nowhere.

Example
  (umask 077; zlb-exporter token > alice.token)`,
  ],
  [
    'audit',
    `Usage: zlb-exporter audit verify FILE

Reads the audit of the gateway, admin.audit_file, with its older files, and says
whether anything in it was changed, removed or added.

Example
  zlb-exporter audit verify /var/lib/zlb-exporter/audit.jsonl

Exit codes: 0 whole, 1 not whole or not readable.`,
  ],
  [
    'plugin',
    `Usage: zlb-exporter plugin CHECK APPLIANCE [NAME] [flags]

A check for Icinga, Nagios and the like, by the readings of a running exporter.
A reading that is absent or too old is UNKNOWN. NAME may contain *.

Checks
  appliance           does it answer, and is it read completely
  farm                is it up; -w, -c: least percent of its backends (100; -)
  connections         of farms; -w, -c: most established ones (else half-open)
  certificate         -w, -c: least days (else the windows of the alerts)
  activation          the same for the licence
Flags
  --exporter.url=URL         default ZLB_EXPORTER_URL or http://127.0.0.1:9444
  --exporter.user-file=PATH  one line, user:password
  --exporter.ca-file, --exporter.cert-file, --exporter.key-file

Examples
  zlb-exporter plugin farm lb-paris shop
  zlb-exporter plugin certificate lb-paris 'shop*' -w 30 -c 7

Exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, also for a wrong call.`,
  ],
  [
    'simulate',
    `Usage: zlb-exporter simulate [FOLDER]

Starts the simulated appliances alone, and prints a configuration that watches
them. ZLB_API_KEY sets their key. A FOLDER keeps their addresses, key and
certificate, and FOLDER/zlb.yml: a configuration for them works after a restart.

Examples
  ZLB_API_KEY=secret zlb-exporter simulate
  zlb-exporter simulate simulation`,
  ],
  [
    'healthcheck',
    `Usage: zlb-exporter healthcheck [flags]

Asks the exporter on this machine for /-/healthy, for containers without a
shell or curl. It takes --web.listen-address and --web.config.file as they are
given to the exporter.

Example
  zlb-exporter healthcheck --web.listen-address=:9444

Exit codes: 0 healthy, 1 not.`,
  ],
  ['admin', adminHelp],
]);
