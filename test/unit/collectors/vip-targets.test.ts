import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../../src/collectors/certificates.ts';
import type { VipSettings } from '../../../src/collectors/collector.ts';
import type { FarmConfig } from '../../../src/collectors/farm-config.ts';
import type { Farm } from '../../../src/appliance/farm.ts';
import { lastRuns, vipTargets } from '../../../src/collectors/vip-targets.ts';
import { plainVip } from '../../support/poller.ts';

const shop: Farm = {
  name: 'shop',
  profile: 'https',
  state: 'up',
  vip: '192.0.2.40',
  vport: '443',
};

interface Given extends Partial<VipSettings> {
  readonly farm?: Partial<Farm>;
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
    configOf: () => ({
      farm: 'shop',
      certificates: files,
      checks: [],
      protocol: undefined,
      logs: undefined,
      proxy: undefined,
      backends: [],
      objects: [],
      ...config,
    }),
    certificates,
    ranRecently: () => ranRecently,
  };
  return vipTargets(known, { ...plainVip, ...settings }, own);
}

const endpointOf = (given: Given): string | undefined => {
  const [target] = targetsOf(given);
  return target?.endpoint && `${target.endpoint.address} ${target.endpoint.port}`;
};

describe('the farms that vip probes', () => {
  it.each(['up', 'needed_restart', 'critical', 'problem', 'maintenance'])('include one that is %s', (state) => {
    expect(targetsOf({ farm: { state } })).toHaveLength(1);
  });

  it.each(['down', 'unknown'])('exclude one that is %s', (state) => {
    expect(targetsOf({ farm: { state } })).toEqual([]);
  });

  it.each(['down', 'unknown'])('include one that is %s and ran within a day', (state) => {
    expect(targetsOf({ farm: { state }, ranRecently: true })).toHaveLength(1);
  });

  it('include L4 farms at permitted addresses without a setting', () => {
    const l4 = { profile: 'l4xnat', vip: '10.0.0.1' };
    const count = (farm: Partial<Farm>) => targetsOf({ l4Only: true, farm }).length;

    expect(['http', 'https', 'eproxy'].map((profile) => count({ ...l4, profile }))).toEqual([0, 0, 0]);
    expect(count(l4)).toBe(1);
    expect(
      ['127.0.0.1', '192.0.2.40', '198.51.100.1', '203.0.113.1', '2001:db8::1'].map((vip) => count({ ...l4, vip })),
    ).toEqual([0, 0, 0, 0, 0]);
  });

  it('are unproven until a probe has succeeded, without a setting', () => {
    const farm = { profile: 'l4xnat', vip: '10.0.0.1' };

    const [asked] = targetsOf({ farm, udpFarms: [] });
    const [unasked] = targetsOf({ l4Only: true, farm, udpFarms: [] });

    expect([asked?.isUnproven, unasked?.isUnproven]).toEqual([false, true]);
  });

  it.each([
    ['http', undefined, 1],
    ['eproxy', undefined, 1],
    ['l4xnat', 'tcp', 1],
    ['l4xnat', 'udp', 0],
    ['l4xnat', 'all', 0],
    ['l4xnat', undefined, 1],
    ['gslb', undefined, 0],
    ['datalink', undefined, 0],
  ])('depend on profile %s and protocol %s: %i', (profile, protocol, count) => {
    expect(targetsOf({ farm: { profile }, config: { protocol } })).toHaveLength(count);
  });

  it.each([
    ['443', '192.0.2.40 443'],
    ['9000:9005,9999', '192.0.2.40 9000'],
    ['80,443', '192.0.2.40 80'],
  ])('are probed on port %s at %s', (vport, expected) => {
    expect(endpointOf({ farm: { vport } })).toBe(expected);
  });

  it.each(['*', '', 'eth0', '0', '65536', '443x', '-1'])('exclude one on port %j', (vport) => {
    expect(targetsOf({ farm: { vport } })).toEqual([]);
  });
});

describe('the addresses that vip may connect to', () => {
  it.each([
    ...'127.0.0.1 127.8.9.10 0.0.0.0 169.254.169.254 224.0.0.1 239.255.255.250'.split(' '),
    ...'255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 fe80::1'.split(' '),
    ...'fe80::1%eth0 ff02::1 fd00:ec2::254 100.100.100.200 168.63.129.16 64:ff9b::a9fe:a9fe'.split(' '),
    ...'64:ff9b:1::a9fe:a9fe 2002:7f00:1::1 192.0.0.192 lb.example.org -1'.split(' '),
    '',
  ])('exclude %j', (vip) => {
    expect(targetsOf({ farm: { vip } })).toMatchObject([{ vip, endpoint: undefined }]);
  });

  it.each(['192.0.2.40', '10.0.0.1', '2001:db8::40', 'fd00::40', '::ffff:192.0.2.40'])('include %s', (vip) => {
    expect(endpointOf({ farm: { vip } })).toBe(`${vip} 443`);
  });

  it('exclude an address of this machine, in either form', () => {
    const own = ['192.0.2.40', '2001:db8::40'];

    expect(
      ['192.0.2.40', '::ffff:192.0.2.40', '2001:db8::40'].map((vip) => endpointOf({ farm: { vip }, own })),
    ).toEqual([undefined, undefined, undefined]);
  });

  it('include only the configured networks, if there are any', () => {
    const networks = ['192.0.2.0/24', '2001:db8::/64'];
    const allowed = ['192.0.2.41', '2001:db8::7'];
    const others = ['192.0.3.1', '10.0.0.1', '127.0.0.1', '2001:db8:1::7'];

    expect(allowed.map((vip) => endpointOf({ farm: { vip }, networks }))).toEqual(allowed.map((vip) => `${vip} 443`));
    expect(others.map((vip) => endpointOf({ farm: { vip }, networks }))).toEqual(others.map(() => undefined));
  });

  it('include loopback when the networks name it', () => {
    expect(endpointOf({ farm: { vip: '127.0.0.5' }, networks: ['127.0.0.0/8'] })).toBe('127.0.0.5 443');
  });
});

describe('connect_to', () => {
  const out = { '192.0.2.40': '203.0.113.7', '10.0.0.1': '203.0.113.8' };
  const loopback = { '192.0.2.40': '127.0.0.1:9000' };

  it.each<readonly [Given, string | undefined]>([
    [{ connectTo: { '192.0.2.40': '203.0.113.7' } }, '203.0.113.7 443'],
    [{ connectTo: { '192.0.2.40': '203.0.113.7:8443' } }, '203.0.113.7 8443'],
    [{ connectTo: { '192.0.2.40:443': '[2001:db8::7]:8443', '192.0.2.40': '203.0.113.7' } }, '2001:db8::7 8443'],
    [{ connectTo: { '192.0.2.40:80': '203.0.113.7', '192.0.2.41': '203.0.113.7' } }, '192.0.2.40 443'],
    [{ connectTo: { '[2001:db8::40]:443': '203.0.113.7' }, farm: { vip: '2001:db8::40' } }, '203.0.113.7 443'],
    // It leads out of the networks, which limit what the appliance reports.
    [{ connectTo: out, networks: ['192.0.2.0/24'] }, '203.0.113.7 443'],
    [{ connectTo: out, networks: ['192.0.2.0/24'], farm: { vip: '10.0.0.1' } }, undefined],
    // It leads to loopback only if the networks name that.
    [{ connectTo: loopback }, undefined],
    [{ connectTo: loopback, networks: ['192.0.2.0/24', '127.0.0.1'] }, '127.0.0.1 9000'],
  ])('maps %j to %s', (given, expected) => {
    expect(endpointOf(given)).toBe(expected);
  });
});

describe('the server names that vip sends', () => {
  const namesOf = (given: Given) => targetsOf(given)[0]?.serverNames;

  const serverNames = { shop: ['a.example.com', 'b.example.com'] };

  it.each<readonly [string, Given, readonly string[]]>([
    ['the common names, each once', { names: ['a.example.com', 'A.Example.com'] }, ['a.example.com']],
    ['www for a wildcard', { names: ['*.example.org'] }, ['www.example.org']],
    ...['', '*', 'no CN', '192.0.2.1', 'a b', '-'].map(
      (name) => [`no name for ${JSON.stringify(name)}`, { names: [name] }, ['']] as const,
    ),
    ['no name while nothing is known of the certificates', { config: { certificates: undefined } }, ['']],
    ['none for a farm without TLS', { farm: { profile: 'http' }, names: ['a.example.com'] }, []],
    ['those of the configuration', { serverNames, names: ['c.example.com'] }, serverNames.shop],
    [
      'those of the configuration, for a farm that may speak anything',
      { serverNames, farm: { profile: 'l4xnat' }, config: { protocol: 'tcp' } },
      serverNames.shop,
    ],
    ['none for a farm with the name of a property', { farm: { name: 'constructor', profile: 'http' } }, []],
  ])('are %s', (_, given, names) => {
    expect(namesOf(given)).toEqual(names);
  });

  it('are twenty at most, however many an appliance lists', () => {
    expect(namesOf({ names: Array.from({ length: 500 }, (_, index) => `n${index}.example.com`) })).toHaveLength(20);
  });
});

it.each([
  ['up', 0, 1_000],
  ['down', 0, undefined],
  ['down', 900, 900],
  ['down', 1_000 - 86_400_000, undefined],
  ['unknown', 1_001 - 86_400_000, 1_001 - 86_400_000],
])('a farm that is %s and ran at %i has the last run, within a day, at %s', (state, ranAtElapsedMs, atElapsedMs) => {
  const before = new Map(ranAtElapsedMs === 0 ? [] : [['shop', ranAtElapsedMs]]);

  expect(lastRuns([{ ...shop, state }], before, 1_000).get('shop')).toBe(atElapsedMs);
});
