import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchesFarm } from '../../../src/config/settings.ts';
import { collectorDefaults, loadSettings, loadText, refusal } from './given-config.ts';
import { NamePattern } from '../../../src/lib/name-pattern.ts';
import { makeMaterial } from '../../support/tls-server.ts';

const least = `
appliances:
  - { name: lb, url: 192.0.2.10, api_key: f1x7ure }
`;

describe('a configuration file', () => {
  it('needs a name, an address and a key, and has defaults for the rest', async () => {
    const settings = await loadText(least);

    expect(settings).toMatchObject({
      appliances: [
        {
          name: 'lb',
          keyHeader: 'auto',
          tls: { insecureSkipVerify: false },
          labels: {},
          farms: { include: [new NamePattern('.*')], exclude: [] },
          compact: false,
          vip: { serverNames: {}, connectTo: {}, networks: [], l4Only: true },
          collectors: Object.fromEntries(collectorDefaults),
        },
      ],
      polling: {
        timeoutMs: 20_000,
        maxConcurrentPerAppliance: 1,
        maxBusyRatio: 0.25,
        routineBusyRatio: 0.03,
        jitterRatio: 0.1,
      },
      limits: { seriesPerAppliance: 50_000, bodyBytes: 8 * 1_024 * 1_024 },
    });
    expect(Object.keys(settings.appliances[0]?.tls ?? {})).toEqual(['insecureSkipVerify']);
  });

  it('accepts every key outside the admin block', async () => {
    const { cert } = makeMaterial();
    const text = `
appliances:
  - name: lb-paris
    url: https://192.0.2.10:444
    api_key_file: lb-paris.key
    key_header: ZAPI-KEY
    tls: { ca_file: ca.pem, server_name: lb.example.org, insecure_skip_verify: true }
    labels: { site: paris, rack: 0123 }
    farms: { include: ['web-.*', api], exclude: ['.*-test'] }
    collectors:
      farms: { max_stale: 4m }
      vip: { enabled: true, schedule: '30 */5 * * * *', max_stale: 20m }
    vip:
      server_names: { shop: [shop.example.com] }
      connect_to: { 192.0.2.40: 203.0.113.7, '[2001:db8::40]:443': '203.0.113.7:8443' }
      networks: [192.0.2.0/24, 2001:db8::/64]
collectors:
  farms: { schedule: '*/20 * * * * *', max_stale: 2m }
  certificates: { schedule: '0 */10  * * * *', max_stale: 24h }
  ipds: { enabled: true }
polling: { timeout: 1m30s, max_concurrent_per_appliance: 2, max_busy_ratio: 50%, routine_busy_ratio: 50%, jitter: 0.2 }
limits: { series_per_appliance: 1000, body_bytes: 16MiB }
`;

    const settings = await loadText(text, { files: { 'lb-paris.key': 'f1x7ure\r\n', 'ca.pem': `lb:\n${cert}` } });

    const [appliance] = settings.appliances;
    expect(appliance?.url.href).toBe('https://192.0.2.10:444/');
    expect(appliance?.apiKey.reveal()).toBe('f1x7ure');
    expect(appliance?.keyHeader).toBe('ZAPI-KEY');
    expect(appliance?.tls).toEqual({
      ca: cert.trim().concat('\n'),
      serverName: 'lb.example.org',
      insecureSkipVerify: true,
    });
    expect(appliance?.labels).toEqual({ site: 'paris', rack: '0123' });
    expect(appliance?.farms).toEqual({
      include: [new NamePattern('web-.*'), new NamePattern('api')],
      exclude: [new NamePattern('.*-test')],
    });
    expect(appliance?.collectors).toEqual({
      ...Object.fromEntries(collectorDefaults),
      farms: { enabled: true, schedule: '*/20 * * * * *', maxStaleMs: 240_000 },
      certificates: { enabled: true, schedule: '0 */10 * * * *', maxStaleMs: 86_400_000 },
      ipds: { ...collectorDefaults.get('ipds'), enabled: true },
      vip: { enabled: true, schedule: '30 */5 * * * *', maxStaleMs: 1_200_000 },
    });
    expect(appliance?.vip).toEqual({
      serverNames: { shop: ['shop.example.com'] },
      connectTo: { '192.0.2.40': '203.0.113.7', '[2001:db8::40]:443': '203.0.113.7:8443' },
      networks: ['192.0.2.0/24', '2001:db8::/64'],
      l4Only: false,
    });
    expect(settings.polling).toEqual({
      timeoutMs: 90_000,
      maxConcurrentPerAppliance: 2,
      maxBusyRatio: 0.5,
      routineBusyRatio: 0.5,
      jitterRatio: 0.2,
    });
    expect(settings.limits).toEqual({ seriesPerAppliance: 1_000, bodyBytes: 16_777_216 });
  });

  it('may enable compact mode for all appliances or for one, which takes precedence', async () => {
    const text = `
appliances:
  - { name: a, url: 192.0.2.10, api_key: k }
  - { name: b, url: 192.0.2.10, api_key: k, compact: true }
  - { name: c, url: 192.0.2.10, api_key: k, compact: false }
`;

    const few = await loadText(text);
    const all = await loadText(`${text}limits: { compact: true }`);

    expect(few.appliances.map(({ compact }) => compact)).toEqual([false, true, false]);
    expect(all.appliances.map(({ compact }) => compact)).toEqual([true, true, false]);
  });

  it('keeps a key of digits as it is written, quotes or not', async () => {
    const settings = await loadText(`
appliances:
  - { name: 12, url: 192.0.2.10, api_key: 00123456789012345678901234567890 }
  - { name: true, url: 192.0.2.10, api_key: 1e5 }
`);

    expect(settings.appliances.map(({ name, apiKey }) => [name, apiKey.reveal()])).toEqual([
      ['12', '00123456789012345678901234567890'],
      ['true', '1e5'],
    ]);
  });

  it('replaces ${NAME} by the environment, also for numbers and booleans, and $$ by a dollar', async () => {
    const text = `
appliances:
  - name: lb-\${SITE}
    url: \${URL}
    api_key: \${KEY}
    tls: { insecure_skip_verify: "\${SKIP}" }
    labels: { price: $$5, mail: a$b, nested: "\${NESTED}" }
limits: { series_per_appliance: "\${SERIES}" }
`;
    const env = { SITE: 'paris', URL: '192.0.2.10', KEY: 'f1x7ure', SKIP: 'true', SERIES: '500', NESTED: '${SITE}' };

    const { appliances, limits } = await loadText(text, { env });

    expect(appliances[0]?.name).toBe('lb-paris');
    expect(appliances[0]?.url.hostname).toBe('192.0.2.10');
    expect(appliances[0]?.apiKey.reveal()).toBe('f1x7ure');
    expect(appliances[0]?.tls.insecureSkipVerify).toBe(true);
    expect(appliances[0]?.labels).toEqual({ price: '$5', mail: 'a$b', nested: '${SITE}' });
    expect(limits.seriesPerAppliance).toBe(500);
  });

  it('does not read names of Object.prototype as variables', async () => {
    const refused = await refusal(loadText(least.replace('192.0.2.10', '"${constructor}"')));

    expect(refused).toEqual([expect.stringContaining('the environment variable constructor is not set')]);
  });

  it.each(['api_key', 'apikey', 'api-key', 'api_key_file'])(
    'is refused without repeating a possible key in the braces of %s',
    async (word) => {
      const refused = await refusal(loadText(`appliances: [{ name: lb, url: 192.0.2.10, ${word}: '\${CANARY}' }]`));

      expect(refused.join('\n')).toContain(
        `appliances[0].${word}: the environment variable in it is not set; set it for the exporter, or write $$ for a plain dollar`,
      );
      expect(refused.join('\n')).not.toContain('CANARY');
    },
  );

  it('polls a farm with any characters in its name', async () => {
    const { appliances } = await loadText(least);

    expect(appliances[0] && watchesFarm(appliances[0], 'web\nshop\r\u2028')).toBe(true);
  });

  it('compares only the first 128 characters of a name with patterns', async () => {
    const { appliances } = await loadText(least.replace(' }', ", farms: { include: ['.*foo.*prod', 'x{128}'] } }"));
    const watched = (name: string): boolean | undefined => appliances[0] && watchesFarm(appliances[0], name);
    // The time of this thread, which other work on the machine does not lengthen.
    const before = process.threadCpuUsage();

    expect(watched('foo'.repeat(50_000))).toBe(false);
    expect(watched('x'.repeat(5_000_000))).toBe(true);
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it('is refused quickly with 60,000 unknown keys, and names the first problems', async () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `key${index}: 1\n`).join('');
    // The time of this thread, which other work on the machine does not lengthen.
    const before = process.threadCpuUsage();

    const refused = await refusal(loadText(least + keys));

    expect(process.threadCpuUsage(before).user).toBeLessThan(10_000_000);
    expect(refused).toHaveLength(101);
    expect(refused.at(-1)).toContain('only the first 100 are shown');
  });

  it('may write shared parts once, with anchors, aliases and merges', async () => {
    const { appliances } = await loadText(`
appliances:
  - &first
    name: a
    url: 192.0.2.10
    api_key: f1x7ure
    farms: &farms { include: ['web-.*'] }
    collectors: { farms: { max_stale: 5m } }
  - { <<: *first, <<: { compact: true }, name: b, url: 192.0.2.11 }
  - { name: c, url: 192.0.2.12, api_key: k, farms: *farms }
`);

    expect(appliances.map(({ name, url }) => [name, url.hostname])).toEqual([
      ['a', '192.0.2.10'],
      ['b', '192.0.2.11'],
      ['c', '192.0.2.12'],
    ]);
    expect(appliances.map(({ farms }) => farms.include.map(({ source }) => source))).toEqual([
      ['web-.*'],
      ['web-.*'],
      ['web-.*'],
    ]);
    expect(appliances[1]?.collectors.farms?.maxStaleMs).toBe(300_000);
    expect(appliances.map(({ compact }) => compact)).toEqual([false, true, false]);
  });

  it('reports the position of a value from an alias or a merge', async () => {
    const refused = await refusal(
      loadText(`
appliances:
  - &first { name: a, url: 192.0.2.10, api_key: f1x7ure, farms: &farms { include: ['('] } }
  - { <<: *first, name: b }
  - { <<: [*first], name: c, farms: *farms }
`),
    );

    expect(refused.map((line) => line.replace(/: is not .*/, ''))).toEqual([
      'zlb.yml:3:84: appliances[0].farms.include[0]',
      'zlb.yml:3:84: appliances[1].farms.include[0]',
      'zlb.yml:3:84: appliances[2].farms.include[0]',
    ]);
  });

  it('validates a max_stale that an alias sets', async () => {
    const refused = await refusal(
      loadText(`${least}collectors: { farms: { max_stale: &short 1s }, summary: { max_stale: *short } }`),
    );

    expect(refused.map((line) => line.replace(/: readings .*/, ''))).toEqual([
      'zlb.yml:4:42: collectors.farms.max_stale',
      'zlb.yml:4:70: collectors.summary.max_stale',
    ]);
  });

  it('does not validate max_stale of disabled collectors', async () => {
    const settings = await loadText(`${least}collectors: { farm_config: { enabled: false, max_stale: 1s } }`);

    expect(settings.appliances[0]?.collectors['farm_config']).toMatchObject({ enabled: false, maxStaleMs: 1_000 });
  });

  it('may begin with a byte order mark', async () => {
    expect((await loadText(`\uFEFF${least}`)).appliances).toHaveLength(1);
  });
});

it.each([
  ['a binary file', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0), 'it is a binary file, not text'],
  ['text of another encoding', Uint8Array.of(0x6e, 0xe9, 0x65), 'it is not UTF-8 text'],
])('an invalid file is refused when it is %s', async (_what, contents, reason) => {
  const refused = await refusal(loadText(contents));

  expect(refused).toEqual([
    `zlb.yml: cannot be read: ${reason}. Give --config.file (or ZLB_CONFIG_FILE) the path of a YAML file`,
  ]);
});

it('the rules between keys are checked only once each value is valid', async () => {
  const twice = `${least}  - { name: lb, url: 192.0.2.11, api_key: f1x7ure, labels: { site: '\${SITE}' } }\n`;

  expect(await refusal(loadText(twice))).toEqual([
    expect.stringContaining('appliances[1].labels.site: the environment variable SITE is not set'),
  ]);
  expect(await refusal(loadText(twice, { env: { SITE: 'paris' } }))).toEqual([
    expect.stringContaining('appliances[1].name: duplicates appliances[0]'),
  ]);
});

it('an invalid file is named with its absolute path', async () => {
  const refused = await refusal(loadSettings({ file: 'no/zlb.yml', env: {} }));

  expect(refused).toEqual([
    `no/zlb.yml: cannot be read: there is no such file (${resolve('no/zlb.yml')}). Give --config.file (or ZLB_CONFIG_FILE) the path of a YAML file`,
  ]);
});

it.each([
  ['nested far too deeply', `appliances: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['a mapping nested far too deeply', `{ appliances: ${'{ a: '.repeat(20_000)}b${' }'.repeat(20_001)}`],
  ['a list without brackets that is nested far too deeply', `${'- '.repeat(20_000)}a`],
])('an invalid file is refused when it is %s', async (_what, text) => {
  const refused = await refusal(loadText(text));

  expect(refused.join('\n')).toMatch(/^zlb\.yml:\d+:\d+: this is nested too deeply; write it with fewer levels/m);
});

it.each([
  ['five seconds', ', got "five seconds"'],
  ['a key that somebody pasted here', ''],
  ['\\u009b2J', ''],
  ['\\u2028', ''],
])(
  'the message of an invalid value repeats "%s" only if it is short and has no control characters',
  async (timeout, got) => {
    const text = `appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]\npolling: { timeout: "${timeout}" }\n`;

    expect(await refusal(loadText(text))).toEqual([
      `zlb.yml:2:21: polling.timeout: must be a duration such as 20s or 1m30s${got}`,
    ]);
  },
);
