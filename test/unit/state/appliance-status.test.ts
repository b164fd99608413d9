import { describe, expect, it } from 'vitest';
import { activationCollector } from '../../../src/collectors/activation.ts';
import { applianceCollector } from '../../../src/collectors/appliance.ts';
import { backendsCollector } from '../../../src/collectors/backends.ts';
import { farmConfigCollector } from '../../../src/collectors/farm-config.ts';
import { interfacesCollector } from '../../../src/collectors/interfaces.ts';
import { buildApplianceStatus } from '../../../src/state/appliance-status.ts';
import { readingKey, type Origin, type Reading } from '../../../src/state/reading.ts';
import type { ApplianceStatus, FarmStatus } from '../../../src/state/status.ts';
import { givenReading } from '../../support/given-reading.ts';
import { collectFarmFrom, collectFrom, refusal } from '../collectors/given-replies.ts';

/** When the elapsed clock began. */
const startedAtMs = Date.parse('2026-11-21T03:00:00Z');

/** The status of an appliance with these readings and no others. */
function statusOf(...readings: readonly Given[]): ApplianceStatus {
  return statusWith(readings, []);
}

type Given = Origin & Partial<Reading>;

const byKey = (readings: readonly Given[]) =>
  new Map(readings.map((each): [string, Reading] => [readingKey(each), { ...givenReading, ...each }]));

/** The status of an appliance with these readings, and these that are too old to be shown. */
function statusWith(readings: readonly Given[], stale: readonly Given[]): ApplianceStatus {
  return buildApplianceStatus({ ...nothingRead, readings: byKey(readings), lastKnown: byKey(stale) });
}

const nothingRead: Parameters<typeof buildApplianceStatus>[0] = {
  name: 'lb',
  url: 'https://192.0.2.10:444',
  labels: {},
  up: true,
  deactivated: false,
  breaker: 'closed',
  readings: new Map(),
  lastKnown: new Map(),
  unixMsOf: (atElapsedMs) => startedAtMs + atElapsedMs,
  series: 0,
  seriesLeftOut: 0,
  collectors: [],
};

it('the status of an appliance has the farms with an objective, and whether its log is silent', () => {
  const objectives = [
    { farm: 'shop', hasLatency: true },
    { farm: 'db', hasLatency: false },
  ];
  const described = (more: Partial<Parameters<typeof buildApplianceStatus>[0]>) =>
    buildApplianceStatus({ ...nothingRead, ...more });

  expect(described({ objectives, isRequestLogEmpty: true })).toMatchObject({
    objectives: ['shop', 'db'],
    latencyObjectives: ['shop'],
    isRequestLogEmpty: true,
  });
  expect(described({ isRequestLogEmpty: true })).not.toHaveProperty('isRequestLogEmpty');
});

/** The farm `shop` with one more reading of it. */
function shopWith(state: string, reading: Origin & { readonly data: unknown }): FarmStatus | undefined {
  const farm = { name: 'shop', profile: 'https', state };
  return statusOf({ collector: 'farms', data: { farms: [farm], excluded: 0 } }, reading).farms?.[0];
}

const shop = { name: 'shop', profile: 'https', state: 'up' };

it.each([
  ['of a farm that runs: there are none', 'up', [], []],
  ['of a farm that is down: unknown', 'down', [], undefined],
  ['of a farm that is down, as null: unknown', 'down', null, undefined],
  ['of a farm of unknown state: unknown', 'unknown', [], undefined],
])('the status of backends reads an empty list %s', async (_, state, list, expected) => {
  const { data } = await collectFarmFrom(backendsCollector, { ...shop, state }, { readFarmStats: { backends: list } });

  expect(data.backends).toEqual(expected);
  expect(shopWith(state, { collector: 'backends', farm: 'shop', data })?.backends).toEqual(expected);
});

describe('the configured status of a farm', () => {
  const service = (id: string, farmguardian: unknown) => ({ id, farmguardian, backends: [] });
  const read = async (readFarm: object, profile = 'https', checks: unknown = { params: [] }) => {
    const { data } = await collectFarmFrom(
      farmConfigCollector,
      { ...shop, profile },
      { listFarmguardians: checks, readFarm },
    );
    return shopWith('up', { collector: 'farm_config', farm: 'shop', data });
  };

  it('names the certificates, and reports whether every service has a health check', async () => {
    const certlist = [{ file: 'shop.pem' }, { file: -1 }];
    const whole = await read({
      params: { status: 'up', certlist },
      services: [service('a', 'tcp'), service('b', 'tcp')],
    });
    const part = await read({ params: { status: 'up', certlist }, services: [service('a', 'tcp'), service('b', '')] });

    expect(whole).toMatchObject({ certificates: ['shop.pem'], hasHealthCheck: true, configuredBackends: [] });
    expect(part).toMatchObject({ certificates: ['shop.pem'], hasHealthCheck: false });
  });

  it('names the configured backends as the metrics do, and nothing without a list', async () => {
    const twin = { ip: '10.0.0.1', port: 80 };
    const services = [
      {
        id: 'front',
        farmguardian: '',
        backends: [
          { ...twin, id: 0 },
          { ...twin, id: 1 },
        ],
      },
    ];
    const params = { status: 'down' };

    expect((await read({ params, services }))?.configuredBackends).toEqual([
      { service: 'front', backend: '10.0.0.1:80#0' },
      { service: 'front', backend: '10.0.0.1:80#1' },
    ]);
    expect((await read({ params, backends: [twin] }, 'gslb'))?.configuredBackends).toEqual([
      { service: '', backend: '10.0.0.1:80' },
    ]);
    expect((await read({ params }))?.configuredBackends).toBe(undefined);
  });

  it('does not report an unknown health check or certificate', async () => {
    const silent = { params: { status: 'up' }, services: [{ id: 'a', backends: [] }] };

    expect(await read(silent, 'https', refusal('forbidden'))).toMatchObject({
      hasHealthCheck: undefined,
      certificates: undefined,
      configuredBackends: [],
    });
    expect(await read(silent, 'http'), 'plain HTTP presents none').toMatchObject({ certificates: [] });
  });
});

const plain = ['http', 'l4xnat', 'gslb', 'datalink'].map((profile) => ({ name: profile, profile }));
const fresh = [{ name: 'new', profile: 'https' }];

it.each([
  ['none, also with new farms of profiles that present no certificate', plain, [], 0, []],
  ['those known to present it, before all others were read', fresh, ['a.pem'], 0, ['shop']],
  ['not known while none is known to, and one was not read', fresh, [], 0, undefined],
  ['not known while none is known to, and one is left out', [], [], 1, undefined],
])('the farms that use a certificate are %s', (_, others, presented, excluded, users) => {
  const config = { farm: 'shop', certificates: presented, checks: [], backends: undefined, protocol: undefined };
  const file = {
    file: 'a.pem',
    kind: 'certificate',
    commonName: 'a',
    issuer: 'b',
    state: 'valid',
    isUnreadable: false,
  };

  const status = statusOf(
    { collector: 'farms', data: { farms: [shop, ...others], excluded } },
    { collector: 'farm_config', farm: 'shop', data: config },
    { collector: 'certificates', data: [file] },
  );

  expect(status.certificates?.[0]?.usedBy).toEqual(users);
});

it('the status of the activation has its expiry, its kind and the edition', async () => {
  const { data } = await collectFrom(activationCollector, {
    readSystemVersion: { params: { hostname: 'lb' } },
    readSystemInfo: { params: { hostname: 'lb', edition: 'enterprise' } },
    readActivationInfo: { params: { days_to_expire: '1', type: 'temporal' } },
    readActivationCertificate: '    Not After : Jun 24 11:59:58 2027 GMT\n-----BEGIN CERTIFICATE-----\n',
  });

  expect(statusOf({ collector: 'activation', data })).toMatchObject({
    activation: { status: 'activated', kind: 'temporal', notAfterSeconds: Date.UTC(2027, 5, 24, 11, 59, 58) / 1_000 },
    edition: 'enterprise',
  });
});

it('the status of the appliance and of its interfaces omits objects without a name', async () => {
  const whole = { params: { hostname: 'lb-a', relianoid_version: '7.9.0', edition: 'community' } };

  const known = await collectFrom(applianceCollector, { readSystemInfo: whole });
  const bare = await collectFrom(applianceCollector, { readSystemVersion: { params: { hostname: '' } } });

  expect(statusOf({ collector: 'appliance', data: known.data })).toMatchObject({
    hostname: 'lb-a',
    product: 'relianoid',
    version: '7.9.0',
    edition: 'community',
  });
  expect(statusOf({ collector: 'appliance', data: bare.data })).toMatchObject({
    hostname: undefined,
    product: undefined,
    version: undefined,
    edition: undefined,
  });
});

it('the status of the appliance and of its interfaces accepts no unknown state of an interface', async () => {
  const { data } = await collectFrom(interfacesCollector, {
    readNetworkStats: { params: { interfaces: [] } },
    listInterfaces: {
      interfaces: [{ name: 'eth0', status: 'up' }, { name: 'eth1', status: 'odd' }, { name: 'eth2' }],
    },
  });

  expect(statusOf({ collector: 'interfaces', data }).interfaces).toEqual([
    { name: 'eth0', state: 'up' },
    { name: 'eth1', state: 'unknown' },
    { name: 'eth2', state: 'unknown' },
  ]);
});

it('the data of other collectors is shown unchanged, of the appliance and of each farm', () => {
  const own = { collector: 'sessions_table', data: { entries: 7 } };
  const status = statusOf(
    { collector: 'farms', data: { farms: [{ name: 'shop', profile: 'http', state: 'up' }], excluded: 0 } },
    own,
    { collector: 'latency', farm: 'shop', data: { seconds: 0.2 } },
  );

  expect(status.readings).toEqual({ sessions_table: { entries: 7 } });
  expect(status.farms?.[0]?.readings).toEqual({ latency: { seconds: 0.2 } });
});

describe('backends of a farm', () => {
  const backend = { service: 'main', backend: '10.0.0.1:80', state: 'down', established: 0 };
  const readAt = (askedAtElapsedMs: number, changedAtElapsedMs?: number): FarmStatus | undefined =>
    statusOf(
      {
        collector: 'farms',
        data: { farms: [shop], excluded: 0 },
        changedAt: () => (changedAtElapsedMs === undefined ? undefined : { atMs: 0, atElapsedMs: changedAtElapsedMs }),
      },
      { collector: 'backends', farm: 'shop', data: { backends: [backend] }, askedAtElapsedMs },
    ).farms?.[0];

  it.each([
    ['read while its state stayed', 50_000, undefined, 'down'],
    ['read after its state changed', 50_000, 49_999, 'down'],
    ['read before its state changed: they are not known', 50_000, 50_001, undefined],
  ])('are shown or unknown: %s', (_, askedAtElapsedMs, changedAtElapsedMs, state) => {
    expect(readAt(askedAtElapsedMs, changedAtElapsedMs)?.backends?.[0]?.state).toBe(state);
  });
});

it('the users of a certificate are as old as the oldest configuration that was read', () => {
  const farms = ['shop', 'blog'].map((name) => ({ ...shop, name }));
  const status = statusOf(
    { collector: 'farms', data: { farms, excluded: 0 } },
    { collector: 'farm_config', farm: 'shop', data: { checks: [], certificates: ['a.pem'] }, askedAtElapsedMs: 60_000 },
    { collector: 'farm_config', farm: 'blog', data: { checks: [], certificates: [] }, askedAtElapsedMs: 30_000 },
    { collector: 'certificates', data: [{ file: 'a.pem', state: 'valid' }] },
  );

  expect(status.farms?.map(({ configuredAtMs }) => configuredAtMs)).toEqual([
    startedAtMs + 60_000,
    startedAtMs + 30_000,
  ]);
  expect(status.certificates).toMatchObject([{ usedBy: ['shop'], usersReadMs: startedAtMs + 30_000 }]);
});

it.each([
  ['50,000', 250, 250],
  ['more than 50,000', 251, undefined],
])('the users of a certificate are unknown above a limit: farms with %s uses', (_, count, users) => {
  const files = Array.from({ length: 200 }, (__, index) => `${index}.pem`);
  const all = Array.from({ length: count }, (__, index) => ({ ...shop, name: `farm-${index}` }));
  const config = { certificates: files, checks: [], backends: undefined, protocol: undefined };
  const configured = all.map(({ name: farm }) => ({ collector: 'farm_config', farm, data: { farm, ...config } }));
  const store = { collector: 'certificates', data: files.map((file) => ({ file, state: 'valid' })) };
  const list = { collector: 'farms', data: { farms: all, excluded: 0 } };

  const now = statusOf(list, store, ...configured).certificates;
  const before = statusWith([list, store], configured).certificates;

  // Nobody knows then, instead of a description of hundreds of megabytes.
  expect(now?.map(({ usedBy }) => usedBy?.length)).toEqual(files.map(() => users));
  expect(before?.map(({ lastKnownUse }) => lastKnownUse?.farms.length)).toEqual(files.map(() => users));
});

describe('the last known use of a certificate', () => {
  const store = { collector: 'certificates', data: [{ file: 'a.pem', state: 'valid' }] };
  const list = { collector: 'farms', data: { farms: [shop], excluded: 0 } };
  const config = (farm: string, askedAtElapsedMs: number, certificates: readonly string[] = ['a.pem']) => {
    const data = { farm, certificates, checks: [], backends: undefined, protocol: undefined };
    return { collector: 'farm_config', farm, data, askedAtElapsedMs };
  };
  const useIn = (readings: readonly Given[], stale: readonly Given[]) => {
    const { usedBy, lastKnownUse } = statusWith([...readings, store], stale).certificates?.[0] ?? {};
    return { usedBy, lastKnownUse };
  };

  it('names the farms that presented it, and when that was read last', () => {
    const stale = [config('shop', 60_000), config('blog', 30_000), config('wiki', 10_000, ['b.pem'])];

    expect(useIn([list], stale)).toEqual({
      usedBy: undefined,
      lastKnownUse: { farms: ['shop', 'blog'], readMs: startedAtMs + 30_000 },
    });
  });

  it('is taken from the configurations while the farm list is stale', () => {
    expect(useIn([config('shop', 60_000)], [list])).toEqual({
      usedBy: undefined,
      lastKnownUse: { farms: ['shop'], readMs: startedAtMs + 60_000 },
    });
  });

  it('is absent while the use is known', () => {
    expect(useIn([list, config('shop', 60_000)], [])).toEqual({ usedBy: ['shop'], lastKnownUse: undefined });
    expect(useIn([list, config('shop', 60_000, [])], [])).toEqual({ usedBy: [], lastKnownUse: undefined });
  });
});

describe('a probe of a farm', () => {
  const address = '192.0.2.40:443';
  const probed = {
    farm: 'shop',
    vip: '192.0.2.40',
    vport: '443',
    address,
    probedAtElapsedMs: 50_000,
    isReachable: true,
    connectSeconds: 0.01,
    failure: undefined,
    ranAtElapsedMs: 0,
    fullTimeAtElapsedMs: 0,
    served: [],
  };
  const listed = { ...shop, vip: '192.0.2.40', vport: '443' };

  /** The farm as listed now, and as it was when it was probed; it changed at this time. */
  function given(now: object, changedAtElapsedMs?: number, served: readonly object[] = []): ApplianceStatus {
    const readings: readonly (Origin & Partial<Reading>)[] = [
      {
        collector: 'farms',
        data: { farms: [{ ...listed, ...now }], excluded: 0 },
        changedAt: () => (changedAtElapsedMs === undefined ? undefined : { atMs: 0, atElapsedMs: changedAtElapsedMs }),
      },
      { collector: 'vip', data: [{ ...probed, served, basis: { listed } }], changedAt: undefined },
    ];
    return statusOf(...readings);
  }

  it.each([
    ['of a farm that never changed', {}, undefined, { isReachable: true, address, atMs: startedAtMs + 50_000 }],
    ['later than the last change', {}, 49_999, { isReachable: true, address, atMs: startedAtMs + 50_000 }],
    ['before the last change: it says nothing', {}, 50_001, undefined],
    ['in another state: it says nothing', { state: 'down' }, undefined, undefined],
    ['at another port: it says nothing', { vport: '8443' }, undefined, undefined],
    ['at another address: it says nothing', { vip: '192.0.2.41' }, undefined, undefined],
  ])('is used or ignored: %s', (_, now, changedAtElapsedMs, probe) => {
    const status = given(now, changedAtElapsedMs);

    if (probe) expect(status.farms?.[0]?.probe).toMatchObject(probe);
    else expect(status.farms?.[0]?.probe).toBeUndefined();
    expect(status.probes).toEqual(probe && { farms: 1, reached: 1, oldestMs: startedAtMs + 50_000 });
  });

  it('is as old as the oldest if several are counted', () => {
    const names = ['shop', 'blog'];
    const { probes } = statusOf(
      { collector: 'farms', data: { farms: names.map((name) => ({ ...listed, name })), excluded: 0 } },
      {
        collector: 'vip',
        data: names.map((farm, index) => ({
          ...probed,
          farm,
          probedAtElapsedMs: 50_000 - 10_000 * index,
          basis: { listed },
        })),
        changedAt: undefined,
      },
    );

    expect(probes).toEqual({ farms: 2, reached: 2, oldestMs: startedAtMs + 40_000 });
  });

  it.each([
    ['later than the appliance was asked: it answers', 40_000, { isSilent: false, answersClients: true }, undefined],
    ['earlier: its proxy is silent', 60_000, { isSilent: true }, ['shop']],
  ])('decides about a silent farm that completes a handshake %s', (_, atMs, silence, unanswered) => {
    const served = [{ serverName: '', failure: undefined }];
    const status = given({ isSilent: true, lastAsk: { atElapsedMs: atMs } }, undefined, served);

    expect(status.farms?.[0]).toMatchObject({ ...silence, askedMs: startedAtMs + atMs });
    expect(status.probes?.unanswered).toEqual(unanswered);
  });

  it.each([
    ['never answered twice: the next look is four minutes after the last', 2, 240_000],
    ['answered late: no look leaves anything on the appliance', 0, undefined],
  ])('schedules the next probe of a silent farm whose calls %s', (_, timeouts, afterMs) => {
    const status = given({ isSilent: true, lastAsk: { atElapsedMs: 60_000, timeouts } });

    expect(status.farms?.[0]?.nextLookMs).toBe(afterMs && startedAtMs + 60_000 + afterMs);
  });

  it('has not reached a farm that connects but does not respond', () => {
    expect(given({}, undefined, [{ serverName: '', failure: 'timeout' }]).probes).toEqual({
      farms: 1,
      reached: 0,
      unanswered: ['shop'],
      oldestMs: startedAtMs + 50_000,
    });
  });
});
