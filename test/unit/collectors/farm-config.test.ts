import { expect, it } from 'vitest';
import { farmConfigCollector } from '../../../src/collectors/farm-config.ts';
import { collectFarmFrom, linesOf, refusal } from './given-replies.ts';

const https = { name: 'shop', profile: 'https', state: 'up' };
const l4 = { name: 'db', profile: 'l4xnat', state: 'up' };
const checks = (...farms: string[]) => ({ params: [{ name: 'check-web', farms }] });

const service = (more: object = {}) => ({
  id: 'front',
  farmguardian: null,
  backends: [{ id: 0, ip: '198.51.100.11', port: 8080, status: 'up', timeout: null, weight: 5, priority: 1 }],
  ...more,
});

it('the farm configuration collector writes everything except single backends in compact mode', async () => {
  const replies = {
    listFarmguardians: checks('shop_front'),
    readFarm: {
      params: { status: 'up', certlist: [{ file: 'shop.pem' }, { file: 'sni.pem' }] },
      services: [service()],
    },
  };

  const whole = await collectFarmFrom(farmConfigCollector, https, replies);
  const compact = await collectFarmFrom(farmConfigCollector, https, replies, { compact: true });

  expect(whole.text).toContain('zlb_backend_weight{');
  expect(compact.text).toBe(whole.text.replaceAll(/^zlb_backend_.*\n/gm, ''));
  expect(compact.text.split('\n')).toHaveLength(4);
});

it.each([
  ['zproxy', [service({ routingpolicy: 'ROUND_ROBIN' })], 'zproxy'],
  ['pound', [service()], 'pound'],
  ['a proxy that nothing names', [], undefined],
])('the farm configuration collector recognises %s by the routing policy of a service', async (_, services, proxy) => {
  const replies = { listFarmguardians: checks(), readFarm: { params: { status: 'up' }, services } };

  const collected = await collectFarmFrom(farmConfigCollector, https, replies);

  expect(collected.data.proxy).toBe(proxy);
});

it('the farm configuration collector finds the health check of a service in the service or in the check list', async () => {
  const services = [service({ farmguardian: 'check-web' }), service({ id: 'api' }), service({ id: 'bare' })];
  const replies = { listFarmguardians: checks('shop_api'), readFarm: { params: { status: 'up' }, services } };

  const collected = await collectFarmFrom(farmConfigCollector, https, replies);

  expect(linesOf(collected, 'zlb_farm_health_check').match(/\w+"\} \d/g)).toEqual(['front"} 1', 'api"} 1', 'bare"} 0']);
});

it('the farm configuration collector finds the health check of an L4 farm without reading the farm', async () => {
  const listed = await collectFarmFrom(farmConfigCollector, l4, { listFarmguardians: checks('db') });
  const none = await collectFarmFrom(farmConfigCollector, l4, { listFarmguardians: checks('other') });
  const unknown = await collectFarmFrom(farmConfigCollector, l4, { listFarmguardians: refusal('forbidden') });

  expect([listed, none].map(({ text }) => text.trim().slice(-1))).toEqual(['1', '0']);
  expect([...listed.asked, ...none.asked, ...unknown.asked]).not.toContain('readFarm');
  expect(unknown.text).toBe('');
  expect(none.text).toBe('zlb_farm_health_check{appliance="lb",farm="db",service=""} 0\n');
});

it('the farm configuration collector compares no services of an unread farm, because it may be an L4 farm', async () => {
  const unclear = await collectFarmFrom(farmConfigCollector, { ...l4, profile: '' }, { listFarmguardians: checks() });

  expect(farmConfigCollector.configuredObjects?.(unclear.data)).toBeUndefined();
});

it('the farm configuration collector keeps the check of an L4 farm when the list does not name its farms', async () => {
  const settingsWith = async (...params: readonly object[]) => {
    const { data } = await collectFarmFrom(farmConfigCollector, l4, { listFarmguardians: { params } });
    return farmConfigCollector.configuredObjects?.(data)?.[0]?.settings;
  };

  expect(await settingsWith({ name: 'check-web' })).toEqual({});
  expect(await settingsWith({ name: 'check-web', farms: [] })).toEqual({ farmguardian: '' });
  expect(await settingsWith()).toEqual({ farmguardian: '' });
});

it('the farm configuration collector does not report a missing health check if it is unknown', async () => {
  const silent = {
    readFarm: { params: { status: 'up' }, services: [service({ farmguardian: undefined })], backends: [] },
  };

  const forbidden = await collectFarmFrom(farmConfigCollector, https, {
    listFarmguardians: refusal('forbidden'),
    ...silent,
  });
  const missing = await collectFarmFrom(farmConfigCollector, https, silent);

  expect(linesOf(forbidden, 'zlb_farm_health_check')).toBe('');
  expect(linesOf(missing, 'zlb_farm_health_check')).toBe('');
  expect(linesOf(missing, 'zlb_backend_weight')).toMatch(/ 5$/);
});

it('the farm configuration collector fails on other failures of the check list', async () => {
  const failing = collectFarmFrom(farmConfigCollector, l4, {
    listFarmguardians: refusal('server_error'),
    readFarm: { params: { status: 'up' } },
  });

  await expect(failing).rejects.toMatchObject({ reason: 'server_error' });
});

it('the farm configuration collector reads an HTTPS farm without a certificate, and an empty farm', async () => {
  const without = await collectFarmFrom(farmConfigCollector, https, {
    listFarmguardians: checks(),
    readFarm: { params: { listener: 'https', certlist: [{ file: -1, id: 1 }, {}] }, services: [] },
  });
  const bare = await collectFarmFrom(farmConfigCollector, https, {
    listFarmguardians: checks(),
    readFarm: { params: { status: 'up' } },
  });

  expect(without.text + bare.text).toBe('');
});

it('the farm configuration collector labels backends with the same address as the backends collector does', async () => {
  const twins = [
    { id: 0, ip: '198.51.100.11', port: 8080, weight: '1' },
    { id: 1, ip: '198.51.100.11', port: 8080, weight: '2' },
    { id: 2, ip: '2001:db8::1', port: '8080', weight: null },
  ];

  const collected = await collectFarmFrom(farmConfigCollector, https, {
    listFarmguardians: checks(),
    readFarm: {
      params: { status: 'up' },
      services: [service({ backends: twins }), service({ id: 'bare', backends: null })],
    },
  });

  expect(linesOf(collected, 'zlb_backend_weight')).toMatchInlineSnapshot(`
    "zlb_backend_weight{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080#0"} 1
    zlb_backend_weight{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080#1"} 2"
  `);
});

it.each([
  ['shop', 'https', true],
  ['total', 'http', true],
  ['modules', 'http', false],
  ['link', 'datalink', false],
  ['..', 'http', false],
])('the farm configuration collector decides about the farm %j with the profile %j: %j', (name, profile, covered) => {
  expect(farmConfigCollector.covers({ name, profile, state: 'up' })).toBe(covered);
});
