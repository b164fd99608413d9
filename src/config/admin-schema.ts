import { Type } from 'typebox';
import { offByDefault, listenerTls, mapping, path, type SettingsOf, value } from './schema-parts.ts';

export type AdminBlock = SettingsOf<typeof adminSchema>;

const tokenExample = {
  name: 'alice',
  sha256: '65bdf14c…',
  role: 'operator',
};

const token = mapping(
  {
    name: value('tokenName', {
      description: 'The caller in the audit; unique. Letters, digits and `. _ @ -`.',
      examples: ['alice'],
    }),
    sha256: value('tokenDigest', {
      description: 'The SHA-256 of the token, never the token itself; `zlb-exporter token` prints both.',
      examples: [tokenExample.sha256],
    }),
    role: Type.Enum(['viewer', 'operator', 'admin', 'alertmanager'], {
      description: 'The role, see docs/admin.md. `alertmanager` only posts alerts to `/alerts`.',
      examples: ['operator'],
    }),
    appliances: Type.Array(value('pattern', {}), {
      description: 'The appliances that the token is for; `*` stands for any characters. A freeze needs `*`.',
      default: ['*'],
      minItems: 1,
      examples: [['lb-*']],
    }),
    expires: Type.Optional(
      value('expiry', {
        description: 'When the token expires; a day begins in UTC. Default: never.',
        examples: ['2027-01-01'],
      }),
    ),
    allow: Type.Optional(
      Type.Array(value('pattern', {}), {
        description:
          'The only operations of its role that the token may call: keys, routes, or patterns of both; also `readAudit`, `freeze` and `unfreeze`.',
        minItems: 1,
        examples: [['readFarm', 'PUT /farms/{farmname}/actions', '*Backend*']],
      }),
    ),
    deny: Type.Array(value('pattern', {}), {
      description: 'Operations that the token may not call; takes precedence over `allow`.',
      default: [],
      examples: [['deleteFarm']],
    }),
    skip_confirmation: offByDefault('Destructive operations need no `X-Confirm`: for existing clients of the API.'),
    guards: Type.Enum(['refuse', 'warn'], {
      description:
        'If a guard refuses a call, `refuse` answers 409 unless `X-Force` is set; `warn` sends the call, and logs the guard.',
      default: 'refuse',
    }),
    person: Type.Optional(
      value('tokenName', {
        description: 'The holder of the token, if one person has several. Default: `name`.',
        examples: ['alice'],
      }),
    ),
    approver: offByDefault('The token may decide changes of others.'),
    break_glass: offByDefault('In an emergency, the token may send a call without approval.'),
  },
  { examples: [tokenExample] },
);

const approvals = mapping(
  {
    required_for: Type.Array(Type.Enum(['reversible', 'disruptive', 'destructive'], { examples: ['destructive'] }), {
      description: 'The risks of operations that another person must approve.',
      default: [],
      examples: [['disruptive', 'destructive']],
    }),
    ttl: value('duration', {
      description: 'How long a change lives.',
      default: '30m',
      from: '1m',
      to: '24h',
      examples: ['1h'],
    }),
    self_approval: offByDefault('A person may approve their own changes: for a single administrator.'),
    certificates_folder: Type.Optional(
      path({
        description:
          'Folder where an ACME client stores renewed certificates: `fullchain.pem` with `privkey.pem`, or `NAME.crt` with `NAME.key`, in it or in two levels below it.',
        examples: ['/var/lib/zlb-exporter/renewed'],
      }),
    ),
  },
  { description: 'Changes: what a second person approves before it is sent.', default: {} },
);

/** The admin gateway; a file without this block has none. */
export const adminSchema = mapping(
  {
    listen_address: value('listenAddress', {
      description: 'The address on which the gateway listens; `:9445` is every address.',
      default: '127.0.0.1:9445',
      examples: ['192.0.2.5:9445'],
    }),
    insecure_plaintext: offByDefault(
      'Listen without `tls` where other machines can connect, behind a proxy or mesh that encrypts.',
    ),
    tls: Type.Optional(listenerTls('admin', 'Without it the listener speaks plain HTTP.')),
    journal_file: path({
      description:
        'The file of the journal: records, changes and the freeze. As a service of systemd: `journal.db` in its state directory.',
      default: 'data/journal.db',
      examples: ['/var/lib/zlb-exporter/journal.db'],
    }),
    timeout: value('duration', {
      description: 'How long a caller waits for the appliance to begin its answer.',
      default: '90s',
      above: '0s',
      to: '1h',
      examples: ['5m'],
    }),
    download_bytes: value('byteSize', {
      description: 'The largest answer of an appliance.',
      default: '1GiB',
      from: '64KiB',
      examples: ['4GiB'],
    }),
    max_concurrent_per_appliance: Type.Integer({
      description: 'Reads at once on one appliance. Changes run one by one.',
      default: 2,
      minimum: 1,
      maximum: 16,
    }),
    approvals,
    tokens: Type.Array(token, {
      description: 'The tokens of callers.',
      minItems: 1,
      examples: [[tokenExample]],
    }),
  },
  {
    description: 'The gateway for changes, with roles and an audit. Off by default.',
    examples: [{ tokens: [tokenExample] }],
  },
);
