import { describe, expect, it } from 'vitest';
import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import {
  compareTwins,
  failoverSentence,
  type Readings,
  fromTwinsSide,
  type TwinComparison,
} from '../../../src/history/twins.ts';
import { readingKey, type Origin, type Reading } from '../../../src/state/reading.ts';
import { givenReading } from '../../support/given-reading.ts';

type Given = Origin & { readonly data: unknown; readonly isWhole?: boolean };

/** The readings of an appliance: these take the place of the usual ones. */
function readings(...others: readonly Given[]): Readings {
  return new Map(
    [...usual, ...others].map((each): [string, Reading] => [readingKey(each), { ...givenReading, ...each }]),
  );
}

const listed = (name: string, profile: string, vip = '192.0.2.50', vport = '443') => ({
  name,
  profile,
  state: 'up',
  vip,
  vport,
});
const farmList = (...farms: readonly object[]): Given => ({ collector: 'farms', data: { farms, excluded: 0 } });

const object = (
  kind: ConfiguredObject['object'],
  name: string,
  settings: ConfiguredObject['settings'],
  [farm = '', service = '']: readonly string[] = [],
): ConfiguredObject => ({ object: kind, farm, service, name, settings });
const shop = ['shop', 'web'] as const;

interface Shop {
  readonly settings?: ConfiguredObject['settings'];
  readonly service?: ConfiguredObject['settings'];
  readonly weights?: Readonly<Record<string, string>>;
  readonly check?: ConfiguredObject['settings'];
  readonly services?: readonly string[];
}

/** The configuration of the farm `shop`, and of its backends. */
function shopConfig({ settings, service, weights, check, services = ['web'] }: Shop = {}): Given {
  const objects = [
    object('farm', 'shop', { rewritelocation: 'enabled', ...settings }, ['shop']),
    ...services.flatMap((name) => [
      object('service', name, { farmguardian: 'check_tcp', ...service }, ['shop', name]),
      ...Object.entries(weights ?? { '10.0.0.1:80': '5', '10.0.0.2:80': '6' }).map(([backend, weight]) =>
        object('backend', backend, { weight }, ['shop', name]),
      ),
    ]),
    object('check', 'check_tcp', { interval: '10', ...check }),
  ];
  return { collector: 'farm_config', farm: 'shop', data: { objects } };
}

/** The backends of the L4 farm `dns`. */
const dnsBackends = (...backends: readonly object[]): Given => ({
  collector: 'backends',
  farm: 'dns',
  data: { backends },
});
const dnsBackend = { farm: 'dns', service: '', backend: '10.0.1.1:53', id: '0', weight: 1 };

const certificate = (file: string, commonName: string, day: number, kind = 'certificate') => ({
  file,
  kind,
  commonName,
  issuer: `authority ${day}`,
  notBeforeSeconds: day,
  notAfterSeconds: 86_400 * day,
});
const store = (...data: readonly object[]): Given => ({ collector: 'certificates', data });
const system = (hostname: string, version = '7.8'): Given => ({
  collector: 'appliance',
  data: { hostname, product: 'relianoid', version, edition: 'community', apiVersion: 'v4.0', kernel: '6.1' },
});
const nics = (ip: string): Given => ({
  collector: 'interfaces',
  data: {
    interfaces: [
      { name: 'eth0', kind: 'nic', ip, mac: ip, parent: '' },
      { name: 'eth0:web', kind: 'virtual', ip: '192.0.2.50', mac: ip, parent: 'eth0' },
    ],
  },
});

const usual: readonly Given[] = [
  farmList(listed('shop', 'https'), listed('dns', 'l4xnat', '192.0.2.51', '53')),
  shopConfig(),
  {
    collector: 'farm_config',
    farm: 'dns',
    data: { objects: [object('farm', 'dns', { protocol: 'udp' }, ['dns'])] },
  },
  dnsBackends(dnsBackend),
  store(certificate('shop.pem', 'shop.example.com', 400)),
  system('lb-1'),
  nics('192.0.2.11'),
];

/** Each difference as a line: kind, farm, service, name, setting, and both values. */
function linesOf({ differences }: TwinComparison): readonly string[] {
  return differences.map(({ object, farm, service, name, setting, here = 'none', there = 'none' }) => {
    const words = [object, farm, service, name, setting].filter(Boolean);
    return `${words.join(' ')}: ${here} → ${there}`;
  });
}

describe('two twin appliances', () => {
  it('have no difference when they are configured alike, whatever the machines are called', async () => {
    const there = readings(system('lb-2'), nics('192.0.2.12'));
    expect(await compareTwins(readings(), there)).toEqual({ differences: [], unknown: new Set() });
  });

  it('have ten differences for ten changes', async () => {
    const there = readings(
      farmList(listed('shop', 'https', '192.0.2.50', '8443'), listed('dns', 'l4xnat', '192.0.2.51', '53')),
      shopConfig({
        settings: { rewritelocation: 'disabled' },
        service: { farmguardian: 'check_http' },
        weights: { '10.0.0.1:80': '1', '10.0.0.3:80': '7' },
        check: { interval: '30' },
      }),
      dnsBackends({ ...dnsBackend, weight: 2 }),
      store(certificate('shop.pem', 'shop.example.com', 500)),
      system('lb-2', '7.9'),
    );

    expect(linesOf(await compareTwins(readings(), there))).toEqual([
      'version version: 7.8 → 7.9',
      'certificate shop.pem not_after: 1971-02-05T00:00:00.000Z → 1971-05-16T00:00:00.000Z',
      'farm shop shop vport: 443 → 8443',
      'farm shop shop rewritelocation: enabled → disabled',
      'service shop web web farmguardian: check_tcp → check_http',
      'backend shop web 10.0.0.1:80 weight: 5 → 1',
      'check check_tcp interval: 10 → 30',
      'backend shop web 10.0.0.2:80: weight 6 → none',
      'backend shop web 10.0.0.3:80: none → weight 7',
      'backend dns 10.0.1.1:53 weight: 1 → 2',
    ]);
  });

  it('show the value of each of them, from both sides', async () => {
    const comparison = await compareTwins(readings(), readings(shopConfig({ weights: { '10.0.0.1:80': '1' } })));
    const place = { object: 'backend', farm: 'shop', service: 'web' };

    expect(comparison.differences).toEqual([
      { ...place, name: '10.0.0.1:80', setting: 'weight', here: '5', there: '1' },
      { ...place, name: '10.0.0.2:80', setting: '', here: 'weight 6', there: undefined },
    ]);
    expect(fromTwinsSide(comparison).differences).toMatchObject([
      { here: '1', there: '5' },
      { here: undefined, there: 'weight 6' },
    ]);
  });

  it('differ once when one lacks a farm or a service with all its contents', async () => {
    const withoutFarm = await compareTwins(readings(), readings(farmList(listed('shop', 'https'))));
    const withService = await compareTwins(readings(), readings(shopConfig({ services: ['web', 'api'] })));

    expect(linesOf(withoutFarm)).toEqual(['farm dns dns: profile l4xnat, vip 192.0.2.51, vport 53 → none']);
    expect(linesOf(withService)).toEqual(['service shop api api: none → farmguardian check_tcp']);
  });

  it('differ once when a backend has another address', async () => {
    const comparison = await compareTwins(
      readings(),
      readings(shopConfig({ weights: { '10.0.0.1:80': '5', '10.0.0.9:80': '6' } })),
    );

    expect(linesOf(comparison)).toEqual(['backend shop web 10.0.0.2:80 name: 10.0.0.2:80 → 10.0.0.9:80']);
    expect(linesOf(fromTwinsSide(comparison))).toEqual([
      'backend shop web 10.0.0.9:80 name: 10.0.0.9:80 → 10.0.0.2:80',
    ]);
  });

  it('differ once in a health check that two farms use', async () => {
    const check = { collector: 'farm_config', farm: 'dns' };
    const here = readings({ ...check, data: { objects: [object('check', 'check_tcp', { interval: '10' })] } });
    const there = readings(shopConfig({ check: { interval: '30' } }), {
      ...check,
      data: { objects: [object('check', 'check_tcp', { interval: '30' })] },
    });

    expect((await compareTwins(here, there)).differences).toHaveLength(1);
  });

  it('do not differ in farms on the addresses of the machines themselves, nor in signing requests', async () => {
    const here = readings(farmList(listed('shop', 'https', '192.0.2.11')));
    const there = readings(
      nics('192.0.2.12'),
      farmList(listed('shop', 'https', '192.0.2.12')),
      store(certificate('shop.pem', 'shop.example.com', 400), certificate('new.csr', 'new.example.com', 1, 'csr')),
    );

    expect((await compareTwins(here, there)).differences).toEqual([]);
  });

  it('do not differ in a setting that one of them does not know', async () => {
    const there = readings(
      shopConfig({ settings: { httpverb: 'standardHTTP' } }),
      dnsBackends({ ...dnsBackend, weight: undefined }),
    );

    expect((await compareTwins(readings(), there)).differences).toEqual([]);
  });

  it.each([
    ['one could not read its certificates', { ...store(), isWhole: false }, ['certificate']],
    [
      'one has not read the configuration of a farm',
      { ...shopConfig(), farm: 'other' },
      ['farm', 'service', 'backend', 'check'],
    ],
    [
      'one could not read its list of farms',
      { ...farmList(listed('shop', 'https'), listed('dns', 'l4xnat', '192.0.2.51', '53')), isWhole: false },
      ['farm', 'service', 'backend', 'check'],
    ],
    ['one does not know the backends of an L4 farm', { ...dnsBackends(), data: { backends: undefined } }, ['backend']],
    ['one does not know its own addresses', { ...nics(''), isWhole: false }, ['farm']],
  ])('are not known to be alike when %s', async (_, reading, kinds) => {
    const there = new Map(readings(reading));
    if (reading.farm === 'other') there.delete(readingKey({ collector: 'farm_config', farm: shop[0] }));

    expect(await compareTwins(readings(), there)).toEqual({ differences: [], unknown: new Set(kinds) });
  });
});

const backend = { object: 'backend', farm: 'shop', service: 'web', name: '10.0.0.1:80' } as const;

it('the settings of unread L4 farms make the farms unknown', async () => {
  const dns = (settings: ConfiguredObject['settings']): Given => ({
    collector: 'farm_config',
    farm: 'dns',
    data: { objects: [object('farm', 'dns', settings, ['dns'])] },
  });

  expect((await compareTwins(readings(), readings(dns({ farmguardian: '' })))).unknown).toEqual(new Set(['farm']));
});

it('the certificate of the web interface, which each product ships, is not a difference', async () => {
  const there = readings(store(certificate('shop.pem', 'shop.example.com', 400), certificate('skdcert.pem', 'lb', 9)));

  expect((await compareTwins(readings(), there)).differences).toEqual([]);
});

it.each([
  [
    { ...backend, setting: 'weight', here: '5', there: '1' },
    'A failover to lb-2 now would change weight of backend 10.0.0.1:80 of service web of farm shop.',
  ],
  [
    { ...backend, setting: 'name', here: '10.0.0.1:80', there: '10.0.0.9:80' },
    'A failover to lb-2 now would replace backend 10.0.0.1:80 of service web of farm shop by 10.0.0.9:80.',
  ],
  [
    { ...backend, setting: '', here: 'weight 6', there: undefined },
    'A failover to lb-2 now would lose backend 10.0.0.1:80 of service web of farm shop.',
  ],
  [
    { ...backend, setting: '', here: undefined, there: 'weight 6' },
    'A failover from lb-2 now would lose backend 10.0.0.1:80 of service web of farm shop.',
  ],
  [
    { object: 'version', farm: '', service: '', name: '', setting: 'version', here: '7.8', there: '7.9' },
    'lb-2 has another version: 7.9 instead of 7.8.',
  ],
  [
    { object: 'check', farm: '', service: '', name: 'check_tcp', setting: 'interval', here: '10', there: '30' },
    'A failover to lb-2 now would change interval of health check check_tcp.',
  ],
] as const)('the effect of a failover is described for %j', (difference, words) => {
  expect(failoverSentence(difference, 'lb-2')).toBe(words);
});
