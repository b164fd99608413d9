import { type Static, Type } from 'typebox';

import { mapping, value } from './schema-parts.ts';

/** The `admin` block and one of its tokens, parsed. */
export type AdminFile = Static<typeof adminSchema>;
export type TokenFile = AdminFile['tokens'][number];

const tls = mapping(
  {
    cert_file: Type.String({
      description: 'PEM file of the certificate of the listener, and behind it those of the authorities in between.',
      minLength: 1,
      examples: ['/etc/zlb-exporter/admin.pem'],
    }),
    key_file: Type.String({
      description: 'PEM file of the private key of that certificate, without a passphrase.',
      minLength: 1,
      examples: ['/run/secrets/admin.key'],
    }),
    client_ca_file: Type.Optional(
      Type.String({
        description:
          'PEM file of the authorities of client certificates. With it, only who shows such a certificate gets a connection.',
        minLength: 1,
        examples: ['/etc/zlb-exporter/clients.pem'],
      }),
    ),
  },
  { description: 'Without it the listener speaks plain HTTP.' },
);

const tokenExample = {
  name: 'alice',
  sha256: '65bdf14c…',
  role: 'operator',
};

const token = mapping(
  {
    name: value('tokenName', {
      description: 'Who calls, as the audit names them; unique. Letters, digits and `. _ @ -`.',
      examples: ['alice'],
    }),
    sha256: value('tokenDigest', {
      description: 'The SHA-256 of the token, never the token itself; `zlb-exporter token` makes and prints both.',
      examples: [tokenExample.sha256],
    }),
    role: Type.Enum(['viewer', 'operator', 'admin'], {
      description:
        '`viewer` reads what is not confidential; `operator` also changes what another call puts back; `admin` does everything.',
      examples: ['operator'],
    }),
    appliances: Type.Array(value('pattern', {}), {
      description:
        'Names of appliances the token is for, or patterns in which `*` stands for any characters. The audit shows it the records of these alone; only a token with `*` may freeze and thaw.',
      default: ['*'],
      minItems: 1,
      examples: [['lb-*']],
    }),
    expires: Type.Optional(
      value('expiry', {
        description:
          'When the token ends: a day, which stands for its start in UTC, or a time with its zone. Without it, never.',
        examples: ['2027-01-01'],
      }),
    ),
    allow: Type.Optional(
      Type.Array(value('pattern', {}), {
        description:
          'The only operations of its role that the token may call. Each entry is the key of an operation, its route, or a pattern with `*` over both. `readAudit`, `freeze` and `unfreeze` are those of the gateway itself.',
        minItems: 1,
        examples: [['readFarm', 'PUT /farms/{farmname}/actions', '*Backend*']],
      }),
    ),
    deny: Type.Array(value('pattern', {}), {
      description: 'Operations that the token may not call, written as in `allow`; wins over it.',
      default: [],
      examples: [['deleteFarm']],
    }),
    skip_confirmation: Type.Boolean({
      description:
        'Destructive operations need no `X-Confirm` header. For a client that cannot send one, such as one written for the appliance.',
      default: false,
      examples: [true],
    }),
    guards: Type.Enum(['refuse', 'warn'], {
      description:
        'What becomes of a call that a guard refuses: `refuse` answers 409 unless it comes with `X-Force`; `warn` lets it through, and the audit, the log and a metric name the guard. For a client that cannot send `X-Force`, such as one written for the appliance.',
      default: 'refuse',
      examples: ['warn'],
    }),
  },
  { examples: [tokenExample] },
);

/** The admin gateway; a file without this block has none. */
export const adminSchema = mapping(
  {
    listen_address: value('listenAddress', {
      description: 'Where the gateway listens; `:9445` is every address.',
      default: '127.0.0.1:9445',
      examples: ['192.0.2.5:9445'],
    }),
    insecure_plaintext: Type.Boolean({
      description:
        'Listen without `tls` where other machines can connect. Tokens then cross the network in clear text, unless a proxy on this machine or a mesh encrypts them.',
      default: false,
      examples: [true],
    }),
    tls: Type.Optional(tls),
    audit_file: Type.String({
      description: 'Where calls that are not plain reads are recorded before they leave, one JSON line at a time.',
      default: 'data/audit.jsonl',
      minLength: 1,
      examples: ['/var/lib/zlb-exporter/audit.jsonl'],
    }),
    audit_file_bytes: value('byteSize', {
      description: 'The size at which the audit goes on in a new file.',
      default: '64MiB',
      from: '64KiB',
      examples: ['256MiB'],
    }),
    timeout: value('duration', {
      description:
        'How long a caller waits until an appliance begins its answer to one call. The call keeps its place for up to twice as long.',
      default: '90s',
      above: '0s',
      to: '1h',
      examples: ['5m'],
    }),
    upload_bytes: value('byteSize', {
      description: 'The largest body that is passed on to an appliance, such as a backup or a package.',
      default: '256MiB',
      from: '64KiB',
      examples: ['1GiB'],
    }),
    download_bytes: value('byteSize', {
      description:
        'The largest answer that is passed on from an appliance. Long ones are kept beside the audit on their way, so that its disk needs the room.',
      default: '1GiB',
      from: '64KiB',
      examples: ['4GiB'],
    }),
    max_concurrent_per_appliance: Type.Integer({
      description:
        'Reads of callers that one appliance works on at a time, each in a process of its own there; changes go one by one beside them.',
      default: 2,
      minimum: 1,
      maximum: 16,
      examples: [1],
    }),
    tokens: Type.Array(token, {
      description: 'Who may call, and what.',
      minItems: 1,
      examples: [[tokenExample]],
    }),
  },
  {
    description:
      'Passes calls of people and scripts on to the appliances, with a policy in front and a record behind. Without this block it does not listen, and nothing can be changed through the exporter.',
    examples: [{ tokens: [tokenExample] }],
  },
);
