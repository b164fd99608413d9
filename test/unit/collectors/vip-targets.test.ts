import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../../src/collectors/certificates.ts';
import type { VipSettings } from '../../../src/collectors/collector.ts';
import type { FarmConfig } from '../../../src/collectors/farm-config.ts';
import type { ListedFarm } from '../../../src/collectors/farms.ts';
import { lastRuns, vipTargets } from '../../../src/collectors/vip-targets.ts';
import { plainVip } from '../../support/poller.ts';

const shop: ListedFarm = {
  name: 'shop',
  profile: 'https',
  state: 'up',
  vip: '192.0.2.40',
  vport: '443',
  established: undefined,
  pending: undefined,
};

interface Given extends Partial<VipSettings> {
  readonly farm?: Partial<ListedFarm>;
  readonly config?: Partial<FarmConfig>;
  /** Common names of the certificates that the farm presents. */
  readonly names?: readonly string[];
  readonly own?: readonly string[];
  readonly ranRecently?: boolean;
}

function targetsOf({ farm, config, names = [], own = [], ranRecently = false, ...settings }: Given) {
  const certificates = names.map(
    (commonName, index): Certificate => ({
      file: `${index}.pem`,
      kind: 'certificate',
      commonName,
      issuer: '',
      state: 'valid',
      notBeforeSeconds: 0,
      notAfterSeconds: 1,
      isUnreadable: false,
    }),
  );
  const files = certificates.map(({ file }) => file);
  const known = {
    farms: [{ ...shop, ...farm }],
    configOf: () => ({ farm: 'shop', certificates: files, checks: [], protocol: undefined, backends: [], ...config }),
    certificates,
    ranRecently: () => ranRecently,
  };
  return vipTargets(known, { ...plainVip, ...settings }, own);
}

const endpointOf = (given: Given): string | undefined => {
  const [target] = targetsOf(given);
  return target?.endpoint && `${target.endpoint.address} ${target.endpoint.port}`;
};

describe('the farms that are probed', () => {
  it.each(['up', 'needed_restart', 'critical', 'problem', 'maintenance'])('include one that is %s', (state) => {
    expect(targetsOf({ farm: { state } })).toHaveLength(1);
  });

  it.each(['down', 'unknown'])('leave out one that is %s', (state) => {
    expect(targetsOf({ farm: { state } })).toEqual([]);
  });

  it.each(['down', 'unknown'])('include one that is %s and ran within a day', (state) => {
    expect(targetsOf({ farm: { state }, ranRecently: true })).toHaveLength(1);
  });

  it.each([
    ['http', undefined, 1],
    ['eproxy', undefined, 1],
    ['l4xnat', 'tcp', 1],
    ['l4xnat', 'udp', 0],
    ['l4xnat', 'all', 0],
    ['l4xnat', undefined, 0],
    ['gslb', undefined, 0],
    ['datalink', undefined, 0],
  ])('of profile %s and protocol %s are %i', (profile, protocol, count) => {
    expect(targetsOf({ farm: { profile }, config: { protocol } })).toHaveLength(count);
  });

  it.each([
    ['443', '192.0.2.40 443'],
    ['9000:9005,9999', '192.0.2.40 9000'],
    ['80,443', '192.0.2.40 80'],
  ])('on port %s are probed at %s', (vport, expected) => {
    expect(endpointOf({ farm: { vport } })).toBe(expected);
  });

  it.each(['*', '', 'eth0', '0', '65536', '443x', '-1'])('leave out one on port %j', (vport) => {
    expect(targetsOf({ farm: { vport } })).toEqual([]);
  });
});

describe('what may be connected to', () => {
  it.each([
    ...'127.0.0.1 127.8.9.10 0.0.0.0 169.254.169.254 224.0.0.1 239.255.255.250'.split(' '),
    ...'255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 fe80::1'.split(' '),
    ...'fe80::1%eth0 ff02::1 fd00:ec2::254 100.100.100.200 168.63.129.16 64:ff9b::a9fe:a9fe'.split(' '),
    ...'64:ff9b:1::a9fe:a9fe 2002:7f00:1::1 192.0.0.192 lb.example.org -1'.split(' '),
    '',
  ])('is not %j', (vip) => {
    expect(targetsOf({ farm: { vip } })).toMatchObject([{ vip, endpoint: undefined }]);
  });

  it.each(['192.0.2.40', '10.0.0.1', '2001:db8::40', 'fd00::40', '::ffff:192.0.2.40'])('is %s', (vip) => {
    expect(endpointOf({ farm: { vip } })).toBe(`${vip} 443`);
  });

  it('is no address of this machine, in either form', () => {
    const own = ['192.0.2.40', '2001:db8::40'];

    expect(
      ['192.0.2.40', '::ffff:192.0.2.40', '2001:db8::40'].map((vip) => endpointOf({ farm: { vip }, own })),
    ).toEqual([undefined, undefined, undefined]);
  });

  it('is only what the networks name, if there are any', () => {
    const networks = ['192.0.2.0/24', '2001:db8::/64'];
    const allowed = ['192.0.2.41', '2001:db8::7'];
    const others = ['192.0.3.1', '10.0.0.1', '127.0.0.1', '2001:db8:1::7'];

    expect(allowed.map((vip) => endpointOf({ farm: { vip }, networks }))).toEqual(allowed.map((vip) => `${vip} 443`));
    expect(others.map((vip) => endpointOf({ farm: { vip }, networks }))).toEqual(others.map(() => undefined));
  });

  it('is loopback where the networks name it', () => {
    expect(endpointOf({ farm: { vip: '127.0.0.5' }, networks: ['127.0.0.0/8'] })).toBe('127.0.0.5 443');
  });
});

describe('connect_to', () => {
  it.each([
    [{ '192.0.2.40': '203.0.113.7' }, '203.0.113.7 443'],
    [{ '192.0.2.40': '203.0.113.7:8443' }, '203.0.113.7 8443'],
    [{ '192.0.2.40:443': '[2001:db8::7]:8443', '192.0.2.40': '203.0.113.7' }, '2001:db8::7 8443'],
    [{ '192.0.2.40:80': '203.0.113.7', '192.0.2.41': '203.0.113.7' }, '192.0.2.40 443'],
  ])('%j leads to %s', (connectTo, expected) => {
    expect(endpointOf({ connectTo })).toBe(expected);
  });

  it('finds an address of IPv6 with its port', () => {
    const connectTo = { '[2001:db8::40]:443': '203.0.113.7' };

    expect(endpointOf({ farm: { vip: '2001:db8::40' }, connectTo })).toBe('203.0.113.7 443');
  });

  it('leads out of the networks, which limit what the appliance reports', () => {
    const connectTo = { '192.0.2.40': '203.0.113.7', '10.0.0.1': '203.0.113.8' };
    const networks = ['192.0.2.0/24'];

    expect(endpointOf({ connectTo, networks })).toBe('203.0.113.7 443');
    expect(endpointOf({ connectTo, networks, farm: { vip: '10.0.0.1' } })).toBeUndefined();
  });

  it('leads to loopback only if the networks name that', () => {
    const connectTo = { '192.0.2.40': '127.0.0.1:9000' };

    expect(endpointOf({ connectTo })).toBeUndefined();
    expect(endpointOf({ connectTo, networks: ['192.0.2.0/24', '127.0.0.1'] })).toBe('127.0.0.1 9000');
  });
});

describe('the names to ask for', () => {
  const namesOf = (given: Given) => targetsOf(given)[0]?.serverNames;

  it('are the common names of an HTTPS farm, each once, with www for a wildcard', () => {
    expect(namesOf({ names: ['shop.example.com', 'Shop.Example.com', '*.example.org'] })).toEqual([
      'shop.example.com',
      'www.example.org',
    ]);
  });

  it.each(['', '*', 'no CN', '192.0.2.1', 'a b', '-'])('are one handshake without a name for %j', (name) => {
    expect(namesOf({ names: [name] })).toEqual(['']);
  });

  it('are one handshake without a name while nothing is known of the certificates', () => {
    expect(namesOf({ config: { certificates: undefined } })).toEqual(['']);
  });

  it('are none for a farm without TLS', () => {
    expect(namesOf({ farm: { profile: 'http' }, names: ['shop.example.com'] })).toEqual([]);
  });

  it('are those of the configuration for any farm that has some', () => {
    const serverNames = { shop: ['a.example.com', 'b.example.com'] };

    expect(namesOf({ serverNames, names: ['shop.example.com'] })).toEqual(['a.example.com', 'b.example.com']);
    expect(namesOf({ serverNames, farm: { profile: 'l4xnat' }, config: { protocol: 'tcp' } })).toEqual([
      'a.example.com',
      'b.example.com',
    ]);
  });

  it('are twenty at most, however many an appliance lists', () => {
    expect(namesOf({ names: Array.from({ length: 500 }, (_, index) => `n${index}.example.com`) })).toHaveLength(20);
  });

  it('do not take a farm called constructor for one with names', () => {
    expect(namesOf({ farm: { name: 'constructor', profile: 'http' } })).toEqual([]);
  });
});

it.each([
  ['up', 0, 1_000],
  ['down', 0, undefined],
  ['down', 900, 900],
  ['down', 1_000 - 86_400_000, undefined],
  ['unknown', 1_001 - 86_400_000, 1_001 - 86_400_000],
])('a farm that is %s and ran at %i last ran, within a day, at %s', (state, ranAtMs, atMs) => {
  const before = new Map(ranAtMs === 0 ? [] : [['shop', ranAtMs]]);

  expect(lastRuns([{ ...shop, state }], before, 1_000).get('shop')).toBe(atMs);
});
