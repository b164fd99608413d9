import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import type { ApplianceStatus } from '../../../src/state/status.ts';
import { seriesOf, valueOf } from '../../support/samples.ts';
import { type Answer, answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

const all = ['farms', 'appliance', 'activation', 'certificates', 'backends', 'farm_config'];
const farm = (farmname: string, status: string, profile = 'http') => ({ farmname, profile, status });
const farmList = (...farms: object[]): Answer => ({ body: { params: farms } });
const backend = (status: string, established = 0) => ({ id: '0', ip: '198.51.100.1', port: '80', status, established });
const backendList = (...backends: object[]): Answer => ({ body: { backends } });

/** An appliance on a good day, whose answers a test can change. */
function given(names: readonly string[] = all) {
  let others: Partial<Record<ReadKey, Answer>> = {};
  const { poller, ...rest } = givenPoller({
    names,
    answer: (key) => {
      const farmConfig = { body: { params: { status: 'up' }, services: [{ id: 'front', farmguardian: 'tcp' }] } };
      const checks = { body: { params: [] } };
      return answering({ readFarm: farmConfig, listFarmguardians: checks, ...others })(key);
    },
  });
  poller.start();
  let current = poller;
  return {
    ...rest,
    answers(more: Partial<Record<ReadKey, Answer>>) {
      others = more;
    },
    describe: () => current.status(),
    async replace(settings: Parameters<typeof rest.replace>[0]) {
      current = await rest.replace(settings);
      return current;
    },
  };
}

const collector = (status: ApplianceStatus, name: string) => status.collectors.find((each) => each.name === name);

describe('the status of an appliance', () => {
  it('is completely unknown before the first response', () => {
    const { describe } = given();

    expect(describe()).toMatchObject({
      up: undefined,
      deactivated: false,
      version: undefined,
      breaker: 'closed',
      farms: undefined,
      certificates: undefined,
      activation: undefined,
      series: 0,
    });
    expect(collector(describe(), 'farms')).toEqual({
      name: 'farms',
      ok: undefined,
      lastSuccessMs: undefined,
      intervalMs: 30_000,
      isStale: false,
      isSupported: true,
      failure: undefined,
    });
  });

  it('has the reading or the failure of a farm at once, while other farms wait for their call', async () => {
    const { describe, answers, asked } = given(['farms', 'backends']);
    const list = { listFarms: farmList(farm('shop', 'up'), farm('db', 'up'), farm('wiki', 'up')) };
    const states = () =>
      describe()
        .farms?.map(({ backends }) => backends?.[0]?.state)
        .toSorted();
    const nextFarm = async () => {
      const before = asked.length;
      while (asked.slice(before).every(({ key }) => key !== 'readFarmStats')) await vi.advanceTimersByTimeAsync(20);
      const meanwhile = states();
      await vi.advanceTimersByTimeAsync(20);
      return meanwhile;
    };
    answers(list);
    await vi.advanceTimersByTimeAsync(minuteMs);

    answers({ ...list, readFarmStats: backendList(backend('down')) });
    expect(await nextFarm()).toEqual(['up', 'up', 'up']);
    expect(states()).toEqual(['down', 'up', 'up']);

    answers({ ...list, readFarmStats: { fails: 'server_error' } });
    await nextFarm();
    expect(collector(describe(), 'backends')?.failure?.reason).toBe('server_error');
  });

  it('is the same object until something changes', async () => {
    const { describe, answers } = given();
    await vi.advanceTimersByTimeAsync(minuteMs);
    const before = describe();
    expect(describe()).toBe(before);

    answers({ listFarms: farmList(farm('shop', 'up'), farm('db', 'down', 'l4xnat')) });
    await vi.advanceTimersByTimeAsync(31_000);
    const after = describe();

    expect(after).not.toBe(before);
    expect(after.farms?.[1]).toMatchObject({ name: 'db', state: 'down' });
  });
});

it('a certificate keeps its last known farms while the API hangs, until they are read again', async () => {
  const config = (file: string): Answer => ({ body: { params: { status: 'up', certlist: [{ file }] }, services: [] } });
  const files = ['a.pem', 'b.pem'].map((file) => ({ file, type: 'Certificate', status: 'valid' }));
  const good = (file: string): Partial<Record<ReadKey, Answer>> => ({
    listFarms: farmList(farm('shop', 'up', 'https')),
    listCertificates: { body: { params: files } },
    readFarm: config(file),
  });
  const { describe, answers } = given();
  answers(good('a.pem'));
  await vi.advanceTimersByTimeAsync(11 * minuteMs);
  const usesOf = () => describe().certificates?.map(({ usedBy, lastKnownUse }) => usedBy ?? lastKnownUse?.farms);
  expect(usesOf()).toEqual([['shop'], []]);

  answers(Object.fromEntries(keysOf(all).map((key) => [key, { fails: 'timeout' }])));
  for (const minutes of [10, 110]) {
    await vi.advanceTimersByTimeAsync(minutes * minuteMs);
    expect(usesOf(), `${minutes} minutes later`).toEqual([['shop'], undefined]);
    expect(describe().certificates?.[0]?.usedBy).toBeUndefined();
  }

  answers(good('b.pem'));
  await vi.advanceTimersByTimeAsync(15 * minuteMs);
  expect(usesOf()).toEqual([[], ['shop']]);
});

it('a reading that /metrics evicts leaves the status at the same time, and returns with the next reading', async () => {
  const { describe, answers, page } = given();
  await vi.advanceTimersByTimeAsync(minuteMs);
  answers(Object.fromEntries(keysOf(all).map((key) => [key, { fails: 'timeout' }])));

  const seen = new Set<string>();
  for (let second = 0; second < 70 * 60; second += 7) {
    await vi.advanceTimersByTimeAsync(7_000);
    const { farms, version, certificates } = describe();
    const text = await page();
    const shown = (family: string) => seriesOf(text, family).length > 0;
    expect(farms !== undefined).toBe(shown('zlb_farm_status'));
    expect(farms?.[0]?.backends !== undefined).toBe(farms !== undefined && shown('zlb_backend_status'));
    expect(version !== undefined).toBe(shown('zlb_appliance_info'));
    expect(certificates !== undefined).toBe(shown('zlb_certificates'));
    seen.add([farms, version, certificates].map((each) => each !== undefined).join(' '));
  }
  expect([...seen]).toEqual(['true true true', 'false true true', 'false false true']);
  expect(describe()).toMatchObject({ up: false, farms: undefined, version: undefined });
  expect(collector(describe(), 'farms')).toMatchObject({
    isStale: true,
    failure: { reason: 'timeout' },
  });
  expect(collector(describe(), 'certificates')).toMatchObject({ isStale: false });

  answers({});
  await vi.advanceTimersByTimeAsync(10 * minuteMs);

  expect(describe()).toMatchObject({ up: true, farms: [{ name: 'shop' }, { name: 'db' }], version: '7.9.0' });
  expect(collector(describe(), 'farms')).toMatchObject({ ok: true, isStale: false, failure: undefined });
});

describe('the failure of a collector', () => {
  it('has its start and its newest reason, despite skipped runs', async () => {
    const { describe, answers } = given(['farms']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    answers({ listFarms: { fails: 'server_error' } });
    await vi.advanceTimersByTimeAsync(minuteMs);
    const first = collector(describe(), 'farms')?.failure;

    answers({ listFarms: { fails: 'connect' }, readSystemVersion: { fails: 'connect' } });
    await vi.advanceTimersByTimeAsync(20 * minuteMs);

    expect(first?.reason).toBe('server_error');
    expect(describe().breaker).not.toBe('closed');
    expect(collector(describe(), 'farms')?.failure).toEqual({ reason: 'connect', sinceMs: first?.sinceMs });
  });

  it('has the reason of a skip if nothing failed before', async () => {
    const { describe, answers } = given(['farms', 'backends']);
    answers({ listFarms: { fails: 'server_error' } });
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    expect(collector(describe(), 'backends')).toMatchObject({ ok: undefined, failure: { reason: 'farms_unknown' } });

    answers({});
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    expect(collector(describe(), 'backends')).toMatchObject({ ok: true, failure: undefined });
  });

  it('ends together with its farm, and one stale farm makes its collector stale', async () => {
    const { describe, answers } = given(['farms', 'backends']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    answers({ readFarmStats: { fails: 'server_error' }, listFarmBackends: { fails: 'server_error' } });
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    expect(collector(describe(), 'backends')).toMatchObject({ isStale: true, failure: { reason: 'server_error' } });
    expect(describe().farms).toMatchObject([
      { name: 'shop', backends: undefined },
      { name: 'db', backends: undefined },
    ]);

    answers({ listFarms: farmList() });
    await vi.advanceTimersByTimeAsync(2 * minuteMs);

    expect(describe().farms).toEqual([]);
    expect(collector(describe(), 'backends')).toMatchObject({ ok: true, isStale: false, failure: undefined });
  });

  it('is absent if the appliance does not support it, or no longer does', async () => {
    const { describe, answers } = given(['farms', 'vpn']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(collector(describe(), 'vpn')).toMatchObject({ ok: true, isSupported: true });
    answers({ listVpns: { fails: 'not_found' } });
    await vi.advanceTimersByTimeAsync(20 * minuteMs);

    expect(collector(describe(), 'vpn')).toEqual({
      name: 'vpn',
      ok: undefined,
      lastSuccessMs: undefined,
      intervalMs: 600_000,
      isStale: false,
      isSupported: false,
      failure: undefined,
    });
  });
});

it('a deactivated appliance is up and deactivated, also in readings that need the licence', async () => {
  const { describe, answers } = given();
  answers(Object.fromEntries(keysOf(all).map((key) => [key, { fails: 'unlicensed' }])));
  await vi.advanceTimersByTimeAsync(5 * minuteMs);

  expect(describe()).toMatchObject({ up: true, deactivated: true, activation: { status: 'deactivated' } });
  expect(collector(describe(), 'farms')?.failure?.reason).toBe('unlicensed');

  answers({});
  await vi.advanceTimersByTimeAsync(5 * minuteMs);

  expect(describe()).toMatchObject({ deactivated: false, activation: { status: 'activated' }, farms: [{}, {}] });
});

describe('the time since which a state exists', () => {
  it('is that of an observed change, which is counted and logged once, and absent for the first known state', async () => {
    const { describe, answers, transitions, page, lines } = given(['farms', 'backends']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(describe().farms).toHaveLength(2);
    expect(seriesOf(await page(), 'zlb_transitions_total')).toEqual([]);
    expect(JSON.stringify(describe())).not.toContain('"sinceMs"');

    answers({
      listFarms: farmList(farm('shop', 'problem'), farm('db', 'up', 'l4xnat')),
      readFarmStats: backendList(backend('down')),
    });
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    const [shop, db] = describe().farms ?? [];
    const ofShop = transitions.filter(({ labels }) => labels.farm === 'shop');
    expect(ofShop.map(({ object, from, to, appliance }) => [appliance, object, from, to])).toEqual([
      ['lb', 'farm', 'up', 'problem'],
      ['lb', 'backend', 'up', 'down'],
    ]);
    expect([shop?.sinceMs, shop?.backends?.[0]?.sinceMs]).toEqual(ofShop.map(({ atMs }) => atMs));
    expect(db?.sinceMs).toBeUndefined();
    expect(valueOf(await page(), 'zlb_transitions_total', { object: 'farm', to: 'problem' })).toBe(1);
    expect(lines.filter(({ msg, object }) => msg === 'state changed' && object === 'farm')).toMatchObject([
      { farm: 'shop', from: 'up', to: 'problem' },
    ]);
  });

  it('survives a reload and an outage, and restarts with unknown and after it', async () => {
    const { describe, answers, transitions, replace } = given(['farms']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    answers({ listFarms: farmList(farm('shop', 'down')) });
    await vi.advanceTimersByTimeAsync(minuteMs);
    const since = describe().farms?.[0]?.sinceMs;
    expect(since).toBe(transitions[0]?.atMs);

    answers({ listFarms: { fails: 'server_error' } });
    await vi.advanceTimersByTimeAsync(hourMs);
    expect(describe().farms).toBeUndefined();
    answers({ listFarms: farmList(farm('shop', 'down')) });
    const successor = await replace({ names: ['farms'] });
    expect(collector(describe(), 'farms')).toMatchObject({ isStale: true, ok: false });
    successor.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(describe().farms).toMatchObject([{ state: 'down', sinceMs: since }]);

    for (const status of ['dancing', 'down']) {
      answers({ listFarms: farmList(farm('shop', status)) });
      await vi.advanceTimersByTimeAsync(minuteMs);
    }

    expect(transitions.map(({ from, to }) => `${from} ${to}`)).toEqual(['up down', 'down unknown', 'unknown down']);
    expect(describe().farms?.[0]?.sinceMs).toBe(transitions[2]?.atMs);
  });
});

/** The calls of these collectors. */
function keysOf(names: readonly string[]): ReadKey[] {
  const keys: Readonly<Record<string, readonly ReadKey[]>> = {
    farms: ['listFarms'],
    appliance: ['readSystemInfo', 'readSystemVersion'],
    activation: ['readSystemVersion', 'readActivationInfo', 'readActivationCertificate'],
    certificates: ['listCertificates'],
    backends: ['readFarmStats'],
    farm_config: ['readFarm', 'listFarmguardians'],
  };
  return names.flatMap((name) => keys[name] ?? []);
}
