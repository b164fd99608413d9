/** The text of `--help`: one screen of 24 lines and 80 columns. */
export const help = `Usage: zlb-exporter [flags]            the exporter, or a demonstration
       zlb-exporter COMMAND [flags]    COMMAND --help explains it

Commands
  check                      try the configuration and each appliance, read-only
  fingerprint HOST[:PORT]    print the SHA-256 of a certificate, to pin it
  admin APPLIANCE …          look and change through a running exporter
  token                      make a token for that, and its digest
  audit verify FILE          check that the record of changes is whole
  simulate [FOLDER]          only the simulated appliances
  healthcheck                ask the exporter here whether it is healthy
Flags
  --config.file=PATH         the configuration; SIGHUP reads it again
  --web.listen-address=ADDR  host:port or :port (default :9444)
  --web.config.file=PATH     TLS and passwords of the metrics listener
  --web.enable-lifecycle     let POST /-/reload read the configuration again
  --shard=INDEX/COUNT        watch a part of the appliances, such as 0/3
  --log.level=LEVEL          debug, info, warn or error (default info)
  --log.format=FORMAT        json or logfmt (default json)
  --version, -h, --help
One appliance needs no file: set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE.
Exit codes: 0 after SIGTERM or SIGINT, 2 for bad flags or configuration, else 1.`;

/** The text of `--help` after a command; `admin` has its own. */
export const helpOf: ReadonlyMap<string, string> = new Map([
  [
    'check',
    `Usage: zlb-exporter check --config.file=PATH [--shard=INDEX/COUNT]
       zlb-exporter check --web.config.file=PATH

Validates the configuration, makes each call of polling once on each appliance,
and prints a report: how it was reached, its certificate, the cost of polling,
what is unknown, and what to do about each finding.
It only reads, one call at a time.

Examples
  zlb-exporter check --config.file=zlb.yml
  zlb-exporter check --config.file=zlb.yml | grep FAILED

Exit codes: 0 all can be polled, 1 some cannot, 2 the configuration is wrong.`,
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
    'simulate',
    `Usage: zlb-exporter simulate [FOLDER]

Starts the simulated appliances alone, and prints a configuration that watches
them. ZLB_API_KEY sets their key. A FOLDER keeps their addresses, key and
certificate, and FOLDER/zlb.yml, so that a configuration outlives a restart.

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
]);
