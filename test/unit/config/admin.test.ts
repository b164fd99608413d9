import { describe, expect, it } from 'vitest';
import { loadText, operations, refusal } from './given-config.ts';

const digest = 'ab'.repeat(32);
const appliances = `
appliances:
  - { name: lb-paris, url: 192.0.2.10, api_key: f1x7ure }
`;

/** Loads a file with one token that has these further keys. */
function loadToken(keys: string) {
  return loadText(`${appliances}admin: { tokens: [{ name: alice, sha256: ${digest}, role: admin, ${keys} }] }`);
}

/** Loads a file whose admin block starts with these keys. */
function loadBlock(keys: string) {
  return loadText(`${appliances}admin: { ${keys} tokens: [{ name: alice, sha256: ${digest}, role: viewer }] }`);
}

describe('the admin block', () => {
  it('is optional; without it nothing listens', async () => {
    const settings = await loadText(appliances);

    expect(settings).not.toHaveProperty('admin');
    expect(settings.appliances[0]).not.toHaveProperty('adminApiKey');
  });

  it('defaults the journal and the history to where systemd lets the service write', async () => {
    const env = { STATE_DIRECTORY: '/var/lib/zlb-exporter:/var/lib/other' };
    const text = (keys: string) =>
      `${appliances}admin: { ${keys} tokens: [{ name: alice, sha256: ${digest}, role: viewer }] }`;

    const settings = await loadText(text(''), { env });
    expect(settings.admin?.journalFile).toBe('/var/lib/zlb-exporter/journal.db');
    expect(settings.history.file).toBe('/var/lib/zlb-exporter/history.db');

    const named = await loadText(`${text('journal_file: /srv/j.db,')}\nhistory: { file: /srv/h.db }`, { env });
    expect([named.admin?.journalFile, named.history.file]).toEqual(['/srv/j.db', '/srv/h.db']);
    expect((await loadText(appliances, { env })).admin).toBeUndefined();
  });

  it('needs a token with a name, a digest and a role, and has defaults for the rest', async () => {
    const { admin } = await loadBlock('');

    expect(admin).toEqual({
      listenAddress: '127.0.0.1:9445',
      journalFile: expect.stringMatching(/\/zlb-test-\w+\/data\/journal\.db$/),
      timeoutMs: 90_000,
      downloadBytes: 1_073_741_824,
      maxConcurrentPerAppliance: 2,
      approvals: { requiredFor: [], ttlMs: 1_800_000, selfApproval: false },
      tokens: [
        {
          name: 'alice',
          sha256: digest,
          role: 'viewer',
          appliances: ['*'],
          deny: [],
          skipConfirmation: false,
          guards: 'refuse',
          person: 'alice',
          approver: false,
          breakGlass: false,
        },
      ],
    });
  });

  it('accepts every key', async () => {
    const settings = await loadText(
      `
appliances:
  - { name: lb-paris, url: 192.0.2.10, api_key: f1x7ure, admin_api_key: f1x7ure-admin }
  - { name: lb-rome, url: 192.0.2.11, api_key: f1x7ure, admin_api_key_file: rome.key }
admin:
  listen_address: "[2001:db8::5]:9445"
  insecure_plaintext: true
  journal_file: /var/lib/zlb-exporter/journal.db
  timeout: 5m
  download_bytes: 4GiB
  max_concurrent_per_appliance: 4
  approvals: { required_for: [disruptive, destructive], ttl: 1h, self_approval: true }
  tokens:
    - name: ops@example.org
      sha256: ${digest.toUpperCase()}
      role: operator
      appliances: [lb-paris, 'lab-*']
      expires: 2027-01-01
      allow: [readFarm, 'PUT /farms/{farmname}/actions']
      deny: [deleteFarm, freeze, DELETE /freeze, '* /audit']
      skip_confirmation: true
      guards: warn
      person: mary
      approver: true
      break_glass: true
`,
      { files: { 'rome.key': 'f1x7ure-rome\n' } },
    );

    expect(settings.appliances.map(({ adminApiKey }) => adminApiKey?.reveal())).toEqual([
      'f1x7ure-admin',
      'f1x7ure-rome',
    ]);
    expect(settings.admin).toEqual({
      listenAddress: '[2001:db8::5]:9445',
      journalFile: '/var/lib/zlb-exporter/journal.db',
      timeoutMs: 300_000,
      downloadBytes: 4_294_967_296,
      maxConcurrentPerAppliance: 4,
      approvals: { requiredFor: ['disruptive', 'destructive'], ttlMs: 3_600_000, selfApproval: true },
      tokens: [
        {
          name: 'ops@example.org',
          sha256: digest,
          role: 'operator',
          appliances: ['lb-paris', 'lab-*'],
          expiresAtMs: Date.UTC(2027, 0, 1),
          allow: ['readFarm', 'actOnFarm'],
          deny: ['deleteFarm', 'freeze', 'unfreeze', 'readAudit'],
          skipConfirmation: true,
          guards: 'warn',
          person: 'mary',
          approver: true,
          breakGlass: true,
        },
      ],
    });
    expect(JSON.stringify(settings)).not.toContain('f1x7ure');
  });

  it('resolves its paths from the file if the appliance comes from the environment', async () => {
    const { admin } = await loadText(`admin: { tokens: [{ name: alice, sha256: ${digest}, role: viewer }] }`, {
      env: { ZLB_APPLIANCE_URL: '192.0.2.10', ZLB_API_KEY: 'f1x7ure' },
    });

    expect(admin?.journalFile).toMatch(/\/zlb-test-\w+\/data\/journal\.db$/);
  });

  it.each(['localhost:9445', '127.8.8.8:0', '[::1]:9445', '[0:0:0:0:0:0:0:1]:9445', '[::ffff:127.0.0.1]:9445'])(
    'needs no TLS on %s, which no other machine can reach',
    async (address) => {
      const { admin } = await loadBlock(`listen_address: "${address}",`);

      expect(admin?.listenAddress).toBe(address);
    },
  );

  it.each([
    ...':9445 0.0.0.0:9445 [::]:9445 128.0.0.1:9445 lb.example.org:9445'.split(' '),
    ...'127.0.0.1.example.org:9445'.split(' '),
  ])('is refused on %s without TLS, unless that is explicit', async (address) => {
    const refused = await refusal(loadBlock(`listen_address: "${address}",`));
    const meant = await loadBlock(`listen_address: "${address}", insecure_plaintext: true,`);

    expect(refused).toEqual([
      expect.stringMatching(/admin\.listen_address: .* add admin\.tls .* or set admin\.insecure_plaintext to true/),
    ]);
    expect(meant.admin?.listenAddress).toBe(address);
  });
});

it('a token expands its entries to operation keys, without duplicates', async () => {
  const { admin } = await loadToken(`allow: ['DELETE /farms/*', deleteFarm, listFarms], deny: ['*Backend*', '*']`);

  const [token] = admin?.tokens ?? [];
  expect(token?.allow?.toSorted()).toEqual(
    [...operations]
      .filter(([key, route]) => route.startsWith('DELETE /farms/') || key === 'listFarms')
      .map(([key]) => key)
      .toSorted(),
  );
  expect(token?.deny.toSorted()).toEqual([...operations.keys()].toSorted());
});
