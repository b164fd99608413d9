import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../../src/appliance/api/table.ts';
import { configuredKinds } from '../../../src/collectors/configured.ts';
import { authorOf, type RecordedCall, splitReplacements } from '../../../src/history/authors.ts';
import type { AttributableDifference } from '../../../src/history/differences.ts';

const weight: AttributableDifference = {
  object: 'backend',
  farm: 'shop',
  service: 'web',
  name: '10.0.0.1:80',
  ids: ['0'],
  setting: 'weight',
  before: '5',
  after: '1',
};
const added: AttributableDifference = { ...weight, setting: '', before: undefined, after: 'weight 1' };
const gone: AttributableDifference = { ...weight, setting: '', before: 'weight 1', after: undefined };
const renamed: AttributableDifference = {
  ...weight,
  object: 'farm',
  service: '',
  name: 'shop',
  setting: 'name',
  before: 'shop',
  after: 'store',
};
const check: AttributableDifference = {
  ...weight,
  object: 'check',
  farm: '',
  service: '',
  name: 'http',
  setting: 'interval',
};
const certificate: AttributableDifference = { ...check, object: 'certificate', name: 'a.pem', setting: 'not_after' };
const order: AttributableDifference = { ...renamed, setting: 'services', before: 'web, api', after: 'api, web' };
const eth1: AttributableDifference = { ...check, object: 'interface', name: 'eth1', setting: 'ip', after: '10.0.0.7' };
const service: AttributableDifference = { ...added, object: 'service', service: 's3', name: 's3' };
const farm: AttributableDifference = { ...added, object: 'farm', service: '', name: 'shop' };
const link: AttributableDifference = { ...farm, setting: 'farmguardian', before: '', after: 'http' };
const links = 'POST /farms/{farmname}/services/{service}/fg';

const call = (
  route: string,
  params: RecordedCall['params'] = {},
  fields: RecordedCall['fields'] = {},
  by = 'call 1 by alice',
): RecordedCall => ({
  appliance: 'lb',
  route,
  params,
  fields,
  by,
  ended: 'done',
  isBetween: true,
});
const backendOf = 'PUT /farms/{farmname}/services/{service}/backends/{backend}';
const place = { farmname: 'shop', service: 'web', backend: '0' };

const alice = 'call 1 by alice';
const bob = 'call 2 by bob';
const deletes = 'DELETE /farms/{farmname}/services/{service}/backends/{backend}';
const web = { farmname: 'shop', service: 'web' };

describe('a gateway call', () => {
  it.each<[string, RecordedCall, AttributableDifference]>([
    ['the setting that its body names', call(backendOf, place, { weight: '1' }), weight],
    ['a setting whose text is not kept', call(backendOf, place, { weight: null }), weight],
    [
      'a backend that it adds',
      call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '10.0.0.1' }),
      added,
    ],
    ['a new name', call('PUT /farms/{farmname}', { farmname: 'shop' }, { newfarmname: 'store' }), renamed],
    [
      'a setting of a farm that it renames',
      call('PUT /farms/{farmname}', { farmname: 'old' }, { newfarmname: 'shop', ttl: '9' }),
      { ...farm, setting: 'ttl', before: '5', after: '9' },
    ],
    [
      'the port of a backend',
      call(backendOf, place, { port: '81' }),
      { ...weight, setting: 'name', before: '10.0.0.1:80', after: '10.0.0.1:81' },
    ],
    [
      'the order of services',
      call(
        'POST /farms/{farmname}/services/{service}/actions',
        { farmname: 'shop', service: 'api' },
        { position: '0' },
      ),
      order,
    ],
    [
      'a backend whose address it writes in capitals',
      call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '2001:DB8::A' }),
      { ...added, name: '[2001:db8::a]:80' },
    ],
    ['a farm that it creates', call('POST /farms', {}, { farmname: 'shop', profile: null }), farm],
    ['a service that it creates', call('POST /farms/{farmname}/services', { farmname: 'shop' }, { id: 's3' }), service],
    ['a backend that it deletes', call(deletes, place), gone],
    ['the backends of a service that it deletes', call('DELETE /farms/{farmname}/services/{service}', web), gone],
    [
      'the backends that its redirect deletes',
      call('PUT /farms/{farmname}/services/{service}', web, { redirect: null }),
      gone,
    ],
    ['the check of its path', call('PUT /monitoring/fg/{name}', { name: 'http' }, { interval: '1' }), check],
    [
      'the timeout of a check that the appliance sets with the interval',
      call('PUT /monitoring/fg/{name}', { name: 'http' }, { interval: '1' }),
      { ...check, setting: 'timeout' },
    ],
    [
      'the check that it links to a service',
      call(links, web, { name: 'http' }),
      { ...link, object: 'service', service: 'web', name: 'web' },
    ],
    [
      'the end of a link to a check that it deletes',
      call('DELETE /monitoring/fg/{name}', { name: 'http' }),
      { ...link, before: 'http', after: '' },
    ],
    [
      'a header that it adds',
      call('POST /farms/{farmname}/addheader', { farmname: 'shop' }, { header: null }),
      { ...farm, setting: 'addheader', before: '', after: 'X-A' },
    ],
    [
      'a certificate that it gives a farm',
      call('POST /farms/{farmname}/certificates', { farmname: 'shop' }, { file: 'a.pem' }),
      { ...farm, setting: 'certificates', before: 'b.pem', after: 'a.pem' },
    ],
    ['an upload of a file', call('POST /certificates/{file}', { file: 'a.pem' }), certificate],
    ['an interface', call('PUT /interfaces/nic/{name}', { name: 'eth1' }, { ip: '10.0.0.7' }), eth1],
    [
      'a farm that moves with its address',
      call('PUT /interfaces/nic/{name}', { name: 'eth1' }, { ip: '10.0.0.7' }),
      { ...farm, setting: 'vip', before: '10.0.0.6', after: '10.0.0.7' },
    ],
    ['all that a restored backup changes', call('POST /system/backup/{name}/actions', { name: 'b' }, {}), weight],
    ['a renewed certificate', call('POST /certificates/letsencrypt/{name}/actions', { name: 'a' }), certificate],
  ])('explains %s', (_, made, difference) => {
    expect(authorOf(difference, [made])).toBe(alice);
  });
});

describe('an unrelated gateway call', () => {
  it.each<[string, RecordedCall, AttributableDifference]>([
    ['another setting', call(backendOf, place, { priority: '1' }), weight],
    ['another backend', call(backendOf, { ...place, backend: '1' }, { weight: '1' }), weight],
    ['another service', call(backendOf, { ...place, service: 'api' }, { weight: '1' }), weight],
    ['another farm', call(backendOf, { ...place, farmname: 'db' }, { weight: '1' }), weight],
    [
      'a backend that another call adds',
      call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '10.0.0.9' }),
      added,
    ],
    [
      'a backend of another port',
      call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '10.0.0.1', port: '8080' }),
      added,
    ],
    [
      'a backend of an address that begins alike',
      call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '10.0.0.1' }),
      { ...added, name: '10.0.0.11:80' },
    ],
    [
      'a new farm, if it changes a check',
      call('PUT /monitoring/fg/{name}', { name: 'db-tcp' }, { interval: '6' }),
      farm,
    ],
    [
      'a new service, if it changes a check',
      call('PUT /monitoring/fg/{name}', { name: 'db-tcp' }, { interval: '6' }),
      service,
    ],
    [
      'the weight of a backend, if it makes a service',
      call('POST /farms/{farmname}/services', { farmname: 'shop' }, { id: 's3' }),
      weight,
    ],
    [
      'a new backend, if it changes a farm',
      call('PUT /farms/{farmname}', { farmname: 'shop' }, { restimeout: '9' }),
      added,
    ],
    [
      'the port of a backend, if it changes a farm',
      call('PUT /farms/{farmname}', { farmname: 'shop' }, { restimeout: '9' }),
      { ...weight, setting: 'name', after: '10.0.0.1:81' },
    ],
    ['a deletion, if it changes the object', call(backendOf, place, { weight: '1' }), gone],
    [
      'another service, if it creates one',
      call('POST /farms/{farmname}/services', { farmname: 'shop' }, { id: 's2' }),
      service,
    ],
    ['the name of another farm', call('PUT /farms/{farmname}', { farmname: 'db' }, { newfarmname: 'base' }), renamed],
    ['another check', call('PUT /monitoring/fg/{name}', { name: 'tcp' }, { interval: '1' }), check],
    ['another file', call('POST /certificates/{file}', { file: 'b.pem' }), certificate],
    ['another interface', call('PUT /interfaces/nic/{name}', { name: 'eth0' }, { ip: '10.0.0.7' }), eth1],
    ['a setting, if it acts', call('PUT /farms/{farmname}/actions', { farmname: 'shop' }, { action: null }), weight],
    ['a setting, if it sets a maintenance', call(`${backendOf}/maintenance`, place, { action: null }), weight],
  ])('does not explain %s', (_, made, difference) => {
    expect(authorOf(difference, [made])).toBe('elsewhere');
  });

  it('explains nothing if it is a read or concerns what is not compared', () => {
    const silent = endpointRows
      .map(([, row]) => row)
      .filter(({ route }) =>
        / \/(?:ipds|vpns|rbac|aws|azure|routing|aliases|session|system\/(?:dns|ntp|snmp|users|notifications))/.test(
          route,
        ),
      );

    expect(silent.length).toBeGreaterThan(50);
    for (const { route } of silent)
      for (const object of configuredKinds)
        expect(authorOf({ ...weight, object }, [call(route)]), route).toBe('elsewhere');
  });
});

describe('a gateway call with an uncertain effect', () => {
  it.each<[string, RecordedCall, AttributableDifference]>([
    ['if it set another value', call(backendOf, place, { weight: '7' }), weight],
    ['if the appliance refused it', { ...call(backendOf, place, { weight: '1' }), ended: 'refused' }, weight],
    ['if it was under way during the reading', { ...call(deletes, place), isBetween: false }, gone],
    ['if the appliance did not respond', { ...call(deletes, place), ended: 'unanswered' }, gone],
    [
      'if the number of the backend was also that of another one',
      call(backendOf, place, { weight: '1' }),
      { ...weight, ids: ['0', '1'] },
    ],
  ])('shares the authorship with "elsewhere" %s', (_, made, difference) => {
    expect(authorOf(difference, [made])).toBe(`elsewhere or ${alice}`);
  });
});

it('a call during a reading that shows its value is its author', () => {
  expect(authorOf(weight, [{ ...call(backendOf, place, { weight: '1' }), isBetween: false }])).toBe(alice);
});

describe('several calls in one interval', () => {
  const sets = (value: string, by: string) => call(backendOf, place, { weight: value }, by);

  it('yield as author the one that set the observed value, not the newest', () => {
    expect(authorOf(weight, [sets('7', bob), sets('1', alice)])).toBe(alice);
  });

  it('rank an exact setting before an indirect one, and both before a restored backup', () => {
    const timeout = { ...check, setting: 'timeout' };
    const interval = call('PUT /monitoring/fg/{name}', { name: 'http' }, { interval: '1' }, bob);
    const backup = call('POST /system/backup/{name}/actions', { name: 'b' }, {}, 'call 3 by carol');

    expect(authorOf(timeout, [backup, interval, call(interval.route, interval.params, { timeout: '1' })])).toBe(alice);
    expect(authorOf(timeout, [backup, interval])).toBe(bob);
  });

  it('are all named when they fit equally, each person once', () => {
    expect(authorOf(weight, [sets('1', 'call 3 by alice'), sets('1', bob), sets('1', alice)])).toBe(
      'call 3 by alice or call 2 by bob',
    );
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => sets('1', `call 1 by ${name}`));
    expect(authorOf(weight, many)).toBe('call 1 by a or call 1 by b or call 1 by c or call 1 by d or 2 others');
  });

  it('are matched one to one when one deleted an object and another created a similar one', () => {
    const moved = { ...weight, setting: 'name', before: '10.0.0.1:80', after: '10.0.0.2:80' };
    const parts = [gone, { ...added, name: '10.0.0.2:80' }];
    const makes = call('POST /farms/{farmname}/services/{service}/backends', web, { ip: '10.0.0.2', port: '80' }, bob);
    const told = (...calls: readonly RecordedCall[]) =>
      splitReplacements([{ ...moved, asReplacement: parts }], calls).map(
        (each) => `${each.setting} ${authorOf(each, calls)}`,
      );

    expect(told(makes, call(deletes, place))).toEqual([` ${alice}`, ` ${bob}`]);
    expect(told(makes)).toEqual([' elsewhere', ` ${bob}`]);
    expect(told(call(backendOf, place, { ip: '10.0.0.2' }), makes)).toEqual([`name ${alice}`]);
    expect(told()).toEqual(['name elsewhere']);
  });
});
