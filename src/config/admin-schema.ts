import { Type } from 'typebox';

import { flag, listenerTls, mapping, path, type SettingsOf, value } from './schema-parts.ts';

/** The settings of the `admin` block. */
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
      description:
        '`viewer` reads what is not confidential; `operator` also makes changes that another call restores; `admin` does everything; `alertmanager` only posts alerts to `/alerts`.',
      examples: ['operator'],
    }),
    appliances: Type.Array(value('pattern', {}), {
      description:
        'The appliances that the token is for; `*` stands for any characters. It sees audit records of these only. Freezing and unfreezing need `*`.',
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
          'The only operations of its role that the token may call: keys, routes, or patterns with `*` of both. The gateway itself has `readAudit`, `freeze` and `unfreeze`.',
        minItems: 1,
        examples: [['readFarm', 'PUT /farms/{farmname}/actions', '*Backend*']],
      }),
    ),
    deny: Type.Array(value('pattern', {}), {
      description: 'Operations that the token may not call, written as in `allow`; takes precedence over it.',
      default: [],
      examples: [['deleteFarm']],
    }),
    skip_confirmation: flag(
      'Destructive operations need no `X-Confirm`: for a client that was written for the appliance.',
    ),
    guards: Type.Enum(['refuse', 'warn'], {
      description:
        'If a guard refuses a call, `refuse` answers 409 unless `X-Force` is set; `warn` sends it, and audit, log and a metric name the guard.',
      default: 'refuse',
    }),
    person: Type.Optional(
      value('tokenName', {
        description: 'Who holds the token, if one person has several. Default: `name`.',
        examples: ['alice'],
      }),
    ),
    approver: flag('The token may decide changes of others, if it may call their operations itself.'),
    break_glass: flag(
      'In an emergency, the token may send a call without approval, with `X-Break-Glass: true` and `X-Reason`.',
    ),
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
    self_approval: flag('A person may approve their own changes: for a single administrator.'),
    certificates_folder: Type.Optional(
      path({
        description:
          'Folder of this machine where an ACME client stores renewed certificates: `fullchain.pem` with `privkey.pem`, or `NAME.crt` with `NAME.key`, in it or in two levels below it, such as `live/NAME` of certbot. They are proposed when those of farms expire.',
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
      description: 'Where the gateway listens; `:9445` is every address.',
      default: '127.0.0.1:9445',
      examples: ['192.0.2.5:9445'],
    }),
    insecure_plaintext: flag(
      'Listen without `tls` where other machines can connect, for a proxy on this machine or a mesh that encrypts.',
    ),
    tls: Type.Optional(listenerTls('admin', 'Without it the listener speaks plain HTTP.')),
    journal_file: path({
      description: 'The file of the journal: records, changes and the freeze.',
      default: 'data/journal.db',
      examples: ['/var/lib/zlb-exporter/journal.db'],
    }),
    timeout: value('duration', {
      description:
        'How long a caller waits for the appliance to begin its answer. The call keeps its place up to twice as long.',
      default: '90s',
      above: '0s',
      to: '1h',
      examples: ['5m'],
    }),
    upload_bytes: value('byteSize', {
      description: 'The largest body that is sent to an appliance.',
      default: '256MiB',
      from: '64KiB',
      examples: ['1GiB'],
    }),
    download_bytes: value('byteSize', {
      description: 'The largest answer of an appliance. Long ones are stored beside the journal until they are sent.',
      default: '1GiB',
      from: '64KiB',
      examples: ['4GiB'],
    }),
    max_concurrent_per_appliance: Type.Integer({
      description: 'Reads at once on one appliance, each in its own process there. Changes run one by one.',
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
