import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchesFarm } from '../../src/config/settings.ts';
import { loadSettings } from '../../src/app/load-settings.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { fuzzing } from '../support/fuzz.ts';
import { edited } from './edited-text.ts';
import { hostileName } from './hostile-names.ts';

/** Values that must not be seen again, in whole or in halves. */
const secrets = ['kQ7wXr2mZp9sVt4n', 'Hf3_bN8cLd6gYj1a', 'w5RzTq0vEx7uKp2i'] as const;
const [pollKey, adminKey, variable] = secrets;

const text = `appliances:
  - name: lb-paris
    url: https://192.0.2.10:444
    api_key: ${pollKey}
    admin_api_key: ${adminKey}
    key_header: ZAPI_KEY
    tls:
      fingerprint_sha256: "${'ab'.repeat(32)}"
    labels: { site: paris, rack: 0123 }
    farms: { include: ['web-.*', api], exclude: ['.*-test'] }
    collectors:
      farms: { max_stale: 4m }
  - name: lb-rome
    url: 192.0.2.11
    api_key: "\${LB_KEY}"
    tls: { server_name: lb.example.org, insecure_skip_verify: true }
collectors:
  farms: { schedule: '*/20 * * * * *', max_stale: 2m }
  ipds: { enabled: true }
polling: { timeout: 1m30s, max_concurrent_per_appliance: 2, max_busy_ratio: 50%, jitter: 0.2 }
limits: { series_per_appliance: 1000, body_bytes: 16MiB }
admin:
  listen_address: 127.0.0.1:9445
  audit_file: data/audit.jsonl
  timeout: 90s
  tokens:
    - name: alice
      sha256: ${'0f'.repeat(32)}
      role: operator
      appliances: ["lb-*"]
      expires: 2027-01-01
      allow: [readFarm, 'PUT /farms/{farmname}/actions', '*Backend*']`;

const scalars = [...text.matchAll(/(?<=[:[,] )[^\s{}[\],][^{}[\],\n]*/g)].map((match) => ({
  from: match.index,
  to: match.index + match[0].length,
}));

/** Values that are hard for regular expressions, for YAML, for numbers, or for printing. */
const hostileValue = fc.oneof(
  fc.constantFrom(
    "'(a+)+$'",
    "'((a{1000}){1000}){1000}'",
    `'${'*'.repeat(40)}!'`,
    "'(?:a|a)*b'",
    "'[a-'",
    "'\\\\'",
    '[[[[',
    '{a: {b: {c',
    '*x',
    '&a [*a, *a]',
    '!!binary x',
    '? x',
    '- -',
    '|',
    '>',
    '1e999',
    '-0',
    '0x10',
    '.inf',
    '.nan',
    'null',
    '~',
    'yes',
    '9'.repeat(400),
    `"${'1m'.repeat(20_000)}"`,
    "'* * * * *'",
    `'${'a'.repeat(50_000)}!'`,
    `'${'*'.repeat(20_000)}'`,
    `'${'0 '.repeat(20_000)}'`,
    `'${'1,'.repeat(20_000)}1 * * * * *'`,
    "'*/0 * * * * *'",
    "'99999999999 * * * * *'",
    "'1-9999999 * * * * *'",
    "'0 0 0 31 2 *'",
    `'${':'.repeat(50_000)}'`,
    "'${LB_KEY}'",
    "'${NOT_SET}'",
    "'${'",
    "'$$'",
    "'${LB_KEY}${LB_KEY}'",
    '"\\u0000"',
    '/dev/zero',
    '/proc/self/environ',
    '..',
    `'https://${'a.'.repeat(10_000)}'`,
    "'https://user:pass@host'",
    "'[::1'",
    "'http://192.0.2.1'",
    pollKey,
    `{ ${adminKey}: 1 }`,
  ),
  hostileName.map((name) => JSON.stringify(name)),
);

describe('a damaged configuration', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zlb-fuzz-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('loads as it is', async () => {
    expect(await outcomeOf(text)).toBe('settings');
  });

  const byValue = fc
    .uniqueArray(fc.record({ at: fc.constantFrom(...scalars), value: hostileValue }), {
      selector: ({ at }) => at.from,
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      let changed = text;
      for (const { at, value } of changes.toSorted((one, other) => other.at.from - one.at.from))
        changed = changed.slice(0, at.from) + value + changed.slice(at.to);
      return changed;
    });

  it('is settings, or is refused with places and without secrets', async () => {
    const byCharacter = edited(text);
    await fc.assert(fc.asyncProperty(fc.oneof(byCharacter, byValue), judge), fuzzing('configurations'));
  }, 120_000);

  async function judge(damaged: string): Promise<void> {
    const outcome = await outcomeOf(damaged);
    if (outcome === 'settings') return;
    expect(outcome.problems.length).toBeGreaterThan(0);
    for (const { file, message } of outcome.problems) {
      expect(file).not.toBe('');
      expect(message).not.toBe('');
    }
    for (const secret of secrets) {
      expect(outcome.message).not.toContain(secret.slice(0, 8));
      expect(outcome.message).not.toContain(secret.slice(8));
    }
    expect(outcome.message.length).toBeLessThan(20_000);
    expect(outcome.message.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
  }

  /** Anything else than settings and a ConfigError is thrown on. */
  async function outcomeOf(damaged: string): Promise<'settings' | ConfigError> {
    const file = join(folder, 'zlb.yml');
    writeFileSync(file, damaged);
    try {
      const env = { LB_KEY: variable };
      const { appliances } = await loadSettings({ file, env });
      for (const appliance of appliances) watchesFarm(appliance, 'shop-\u00fc');
      for (const appliance of appliances) watchesFarm(appliance, 'shop-\u0100');
      return 'settings';
    } catch (error) {
      if (error instanceof ConfigError) return error;
      throw error;
    }
  }
});
