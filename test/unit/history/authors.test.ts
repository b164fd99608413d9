import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../../src/appliance/api/table.ts';
import { configuredKinds } from '../../../src/collectors/configured.ts';
import { explains, type Touch } from '../../../src/history/authors.ts';
import type { FoundDifference } from '../../../src/history/differences.ts';

const weight: FoundDifference = {
  object: 'backend',
  farm: 'shop',
  service: 'web',
  name: '10.0.0.1:80',
  id: '0',
  setting: 'weight',
  before: '5',
  after: '1',
};
const added: FoundDifference = { ...weight, id: undefined, setting: '', before: undefined, after: 'weight 1' };
const renamed: FoundDifference = {
  ...weight,
  object: 'farm',
  service: '',
  name: 'shop',
  setting: 'name',
  before: 'shop',
  after: 'store',
};
const check: FoundDifference = { ...weight, object: 'check', farm: '', service: '', name: 'http', setting: 'interval' };
const certificate: FoundDifference = { ...check, object: 'certificate', name: 'a.pem', setting: 'not_after' };
const order: FoundDifference = { ...renamed, setting: 'services', before: 'web, api', after: 'api, web' };
const eth1: FoundDifference = { ...check, object: 'interface', name: 'eth1', setting: 'ip' };

const call = (route: string, params: Touch['params'] = {}, fields: Touch['fields'] = {}): Touch => ({
  appliance: 'lb',
  route,
  params,
  fields,
  by: 'call 1 by alice',
});
const backendOf = 'PUT /farms/{farmname}/services/{service}/backends/{backend}';
const place = { farmname: 'shop', service: 'web', backend: '0' };

describe('a call explains', () => {
  it.each([
    ['the setting that its body names', call(backendOf, place, { weight: '' }), weight],
    [
      'a backend that it adds',
      call('POST /farms/{farmname}/backends', { farmname: 'shop' }, { ip: '10.0.0.1' }),
      added,
    ],
    ['a new name', call('PUT /farms/{farmname}', { farmname: 'shop' }, { newfarmname: 'store' }), renamed],
    [
      'the order of services',
      call('POST /farms/{farmname}/services/{service}/actions', { farmname: 'shop', service: 'api' }, { position: '' }),
      order,
    ],
    [
      'a backend whose address it writes in capitals',
      call('POST /farms/{farmname}/backends', { farmname: 'shop' }, { ip: '2001:DB8::A' }),
      { ...added, name: '[2001:db8::a]:80' },
    ],
    ['the check of its path', call('PUT /monitoring/fg/{name}', { name: 'http' }, { interval: '' }), check],
    ['an upload of a file', call('POST /certificates/{file}', { file: 'a.pem' }), certificate],
    ['an interface', call('PUT /interfaces/nic/{name}', { name: 'eth1' }, { ip: '10.0.0.7' }), eth1],
    ['all that a restored backup changes', call('POST /system/backup/{name}/actions', { name: 'b' }, {}), weight],
    ['a renewed certificate', call('POST /certificates/letsencrypt/{name}/actions', { name: 'a' }), certificate],
  ])('%s', (_, touch, difference) => {
    expect(explains(touch, difference)).toBe(true);
  });
});

describe('a call does not explain', () => {
  it.each([
    ['another setting', call(backendOf, place, { priority: '' }), weight],
    ['another backend', call(backendOf, { ...place, backend: '1' }, { weight: '' }), weight],
    ['another service', call(backendOf, { ...place, service: 'api' }, { weight: '' }), weight],
    ['another farm', call(backendOf, { ...place, farmname: 'db' }, { weight: '' }), weight],
    [
      'a backend that another call adds',
      call('POST /farms/{farmname}/backends', { farmname: 'shop' }, { ip: '10.0.0.9' }),
      added,
    ],
    [
      'a backend of an address that begins alike',
      call('POST /farms/{farmname}/backends', { farmname: 'shop' }, { ip: '10.0.0.1' }),
      { ...added, name: '10.0.0.11:80' },
    ],
    ['the name of another farm', call('PUT /farms/{farmname}', { farmname: 'db' }, { newfarmname: 'base' }), renamed],
    ['another check', call('PUT /monitoring/fg/{name}', { name: 'tcp' }, { interval: '' }), check],
    ['another file', call('POST /certificates/{file}', { file: 'b.pem' }), certificate],
    ['another interface', call('PUT /interfaces/nic/{name}', { name: 'eth0' }, { ip: '' }), eth1],
    ['a setting, if it acts', call('PUT /farms/{farmname}/actions', { farmname: 'shop' }, { action: '' }), weight],
    ['a setting, if it sets a maintenance', call(`${backendOf}/maintenance`, place, { action: '' }), weight],
  ])('%s', (_, touch, difference) => {
    expect(explains(touch, difference)).toBe(false);
  });

  it('anything, if it reads or is about what is not compared', () => {
    const silent = endpointRows
      .map(([, row]) => row)
      .filter(({ route }) =>
        / \/(?:ipds|vpns|rbac|aws|azure|routing|aliases|session|system\/(?:dns|ntp|snmp|users|notifications))/.test(
          route,
        ),
      );

    expect(silent.length).toBeGreaterThan(50);
    for (const { route } of silent)
      for (const object of configuredKinds) expect(explains(call(route), { ...weight, object }), route).toBe(false);
  });
});
