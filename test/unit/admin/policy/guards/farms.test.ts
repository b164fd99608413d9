import { describe, expect, it } from 'vitest';
import { bodyOf, inspect, namesOf, type Replies, refusal, unclear } from './given-inspection.ts';

const farm = { farmname: 'shop', profile: 'https', status: 'up', vip: '192.0.2.20', vport: '443' };
const nic = { name: 'eth0', type: 'nic', ip: '192.0.2.5', status: 'up' };
const carrier = { name: 'eth0:web', type: 'virtual', ip: '192.0.2.20', status: 'up' };

function given(parts: { status?: unknown; profile?: string; farms?: unknown[]; interfaces?: unknown; more?: Replies }) {
  const { status = 'up', profile = 'http', farms = [farm], interfaces = [nic, carrier], more = {} } = parts;
  return {
    readFarmsSummary: { params: { lslb: [{ name: 'shop', profile }] } },
    readFarmStatus: { params: { status } },
    listFarms: { params: farms },
    listInterfaces: { interfaces },
    readFarm: { params: { vip: farm.vip, certlist: [{ file: 'shop.pem' }] } },
    listCertificates: { params: [{ file: 'shop.pem' }] },
    ...more,
  };
}

const restart = (replies: Replies) => inspect('actOnFarm', replies, { body: { action: 'restart' } });
const start = (replies: Replies) => inspect('actOnFarm', replies, { body: { action: 'start' } });
const only = async (seen: ReturnType<typeof restart>) => (await seen).findings.at(0)?.message;

it('a restart of a hung farm is permitted, because it is the repair', async () => {
  const seen = restart(given({ more: { readFarmStatus: refusal('timeout') } }));

  expect(namesOf(await seen)).toEqual(['restart_may_leave_down warning']);
  expect(await only(seen)).toContain('does not answer the appliance; a restart is the repair');
});

it('a restart of a hung farm is checked against the last reading, because the farm list blocks on hung proxies', async () => {
  const known = { name: 'shop', profile: 'https', state: 'critical', isSilent: true, vip: farm.vip, vport: '443' };
  const rival = { ...known, name: 'rival', state: 'up', isSilent: false };
  const options = { body: { action: 'restart' }, knownFarms: [{ ...known, certificates: ['shop.pem'] }] };
  const hung = given({ more: { readFarmStatus: refusal('timeout') } });

  const alone = await inspect('actOnFarm', hung, options);
  const meeting = await inspect('actOnFarm', hung, { ...options, knownFarms: [known, rival] });
  const fileGone = await inspect('actOnFarm', { ...hung, listCertificates: { params: [] } }, options);

  expect(namesOf(alone)).toEqual(['restart_may_leave_down warning']);
  // A read of the farm itself might never end, and leave a process on the appliance.
  expect(alone.asked).toEqual(['readFarmsSummary', 'listInterfaces', 'listCertificates']);
  expect(namesOf(meeting)).toEqual(['restart_may_leave_down blocking']);
  expect(namesOf(fileGone)).toEqual(['restart_may_leave_down blocking']);
});

it('a restart of a hung farm is permitted without a known address, and reads no list that would block', async () => {
  const knownFarms = [{ name: 'shop', profile: 'http', state: 'unknown', isSilent: true }];
  const hung = given({ more: { readFarmStatus: refusal('timeout'), listFarms: refusal('timeout') } });

  const seen = await inspect('actOnFarm', hung, { body: { action: 'restart' }, knownFarms });
  const unknown = await inspect('actOnFarm', hung, { body: { action: 'restart' } });

  expect(namesOf(seen)).toEqual(['restart_may_leave_down warning']);
  expect(seen.asked).toEqual(['readFarmsSummary']);
  expect(seen.findings[0]?.message).toContain('Its address and port were not checked');
  expect(namesOf(unknown)).toEqual(['restart_may_leave_down warning']);
});

it('a restart of a responding farm is not blocked by the hung proxy of another', async () => {
  const knownFarms = [{ name: 'shop', profile: 'http', state: 'up', vip: farm.vip, vport: '80' }];
  const late = given({ more: { listFarms: refusal('timeout') } });

  const seen = await inspect('actOnFarm', late, { body: { action: 'restart' }, knownFarms });

  expect(namesOf(seen)).toEqual(['restart_may_leave_down warning']);
});

it('the guard detects a hung farm within 5 seconds, a quarter of the limit of the appliance', async () => {
  const limits = new Map<string, number>();

  await inspect('actOnFarm', given({}), {
    body: { action: 'restart' },
    onLimit: (key, limitMs) => limits.set(key, limitMs),
  });

  expect([...limits]).toEqual([['readFarmStatus', 5_000]]);
});

describe('a start', () => {
  it.each(['up', 'problem', 'critical', 'maintenance', 'needed restart', -1, null])(
    'is a hard restart on an HTTP farm whose status is %j',
    async (status) => {
      expect(namesOf(await start(given({ status })))).toEqual(['hard_restart blocking']);
    },
  );

  it('is harmless on a stopped farm, and nothing else is read', async () => {
    expect(await start(given({ status: 'down' }))).toEqual({
      findings: [],
      asked: ['readFarmsSummary', 'readFarmStatus shop'],
    });
  });

  it('is harmless on a running L4xNAT farm', async () => {
    expect(namesOf(await start(given({ profile: 'l4xnat' })))).toEqual([]);
  });

  it.each(['gslb', 'eproxy', ''])('is blocked on a running farm of the profile %j', async (profile) => {
    expect(namesOf(await start(given({ profile })))).toEqual(['hard_restart blocking']);
  });

  it('is sent to the appliance, which answers 404, when the farm is unknown', async () => {
    const replies = given({
      more: { readFarmsSummary: { params: { lslb: [] } }, readFarmStatus: refusal('not_found') },
    });

    expect(namesOf(await start(replies))).toEqual([]);
  });

  it('is blocked for a listed farm whose status the release does not report', async () => {
    const replies = given({ more: { readFarmStatus: refusal('not_found') } });

    expect(namesOf(await start(replies))).toEqual(['hard_restart blocking', 'restart_may_leave_down blocking']);
  });

  it.each(unclear('start'))('is detected in a body that a release may read as one: %s', async (text) => {
    expect(namesOf(await inspect('actOnFarm', given({}), { body: bodyOf(text) }))).toContain('hard_restart blocking');
  });

  it.each(['{"action":true}', '{"action":null}', '{"action":""}', '{"action":1}', '{"Action":"start"}', '{}'])(
    'is not detected in a body that every release refuses: %s',
    async (text) => {
      expect(await inspect('actOnFarm', given({}), { body: bodyOf(text) })).toEqual({ findings: [], asked: [] });
    },
  );
});

describe('a restart', () => {
  it('causes a warning about the connections of a farm that can start again', async () => {
    const seen = await restart(given({}));

    expect(namesOf(seen)).toEqual(['restart_may_leave_down warning']);
    expect(seen.findings[0]?.message).toBe(
      'The farm shop is stopped and started again; its open connections drop at once, without being drained, and for about two seconds it serves nobody. Its address, its port and the files of its certificates were checked.',
    );
  });

  it('would leave an HTTPS farm down whose certificate file is missing', async () => {
    const more = { listCertificates: { params: [{ file: 'other.pem' }] } };

    expect(await only(restart(given({ more })))).toBe(
      'The farm shop would be stopped, and could not start again: the store does not have the file of its certificate shop.pem.',
    );
  });

  it('reads no certificates for a farm that has none', async () => {
    const { asked } = await restart(given({ farms: [{ ...farm, profile: 'http' }] }));

    expect(asked).not.toContain('readFarm shop');
  });

  it('is permitted for a stopped farm', async () => {
    expect(namesOf(await restart(given({ status: 'down', interfaces: [] })))).toEqual([]);
  });

  it.each([
    ['no interface has its address 192.0.2.20', [nic]],
    ['no interface has its address 192.0.2.20', null],
    ['the interface eth0:web of its address 192.0.2.20 is down', [nic, { ...carrier, status: 'down' }]],
  ])('would leave the farm down when %s', async (because, interfaces) => {
    expect(await only(restart(given({ interfaces })))).toBe(
      `The farm shop would be stopped, and could not start again: ${because}.`,
    );
  });

  it.each([
    ['up', 'restart_may_leave_down warning'],
    ['down', 'restart_may_leave_down blocking'],
    ['', 'restart_may_leave_down blocking'],
  ])('reads the list of virtual interfaces if the other one omits the status: %j', async (status, name) => {
    const interfaces = [nic, { ...carrier, status: '' }];
    const listVirtualInterfaces = { interfaces: [{ ...carrier, status }] };

    expect(namesOf(await restart(given({ interfaces, more: { listVirtualInterfaces } })))).toEqual([name]);
  });

  it('is blocked when the interfaces cannot be read', async () => {
    const more = { listInterfaces: refusal('server_error') };

    expect(namesOf(await restart(given({ more })))).toEqual(['restart_may_leave_down blocking']);
  });

  it('is blocked when the address cannot be read', async () => {
    expect(await only(restart(given({ farms: [{ ...farm, vip: -1, vport: -1 }] })))).toContain(
      'no interface has its address -1',
    );
    expect(await only(restart(given({ farms: [] })))).toContain('GET /farms does not list it');
  });

  it.each([
    ['443', '443'],
    ['443', '*'],
    ['*', '443'],
    ['9000:9005,443', '440:450'],
    ['80,443', '443,8443'],
  ])('would leave the farm at %s down when another one has %s', async (vport, taken) => {
    const other = { ...farm, farmname: 'other', vport: taken };

    expect(await only(restart(given({ farms: [other, { ...farm, vport }] })))).toContain(
      `the running farm other has its address and port, 192.0.2.20:${taken}`,
    );
  });

  it.each([
    ['at another port', { vport: '444' }],
    ['at a range beside it', { vport: '400:442,444:500' }],
    ['at another address', { vip: '192.0.2.21' }],
    ['that is stopped', { status: 'down' }],
    ['of the kind that has an interface for a port', { vport: 'eth0' }],
  ])('ignores a farm %s', async (_, parts) => {
    const seen = await restart(given({ farms: [farm, { ...farm, farmname: 'other', ...parts }] }));

    expect(namesOf(seen)).toEqual(['restart_may_leave_down warning']);
  });

  it.each(unclear('restart'))('is detected in a body that a release may read as one: %s', async (text) => {
    const seen = await inspect('actOnFarm', given({ interfaces: [] }), { body: bodyOf(text) });

    expect(namesOf(seen)).toContain('restart_may_leave_down blocking');
  });

  it('is checked for an L4xNAT farm if a release may read it as a start', async () => {
    const replies = given({ profile: 'l4xnat', interfaces: [] });

    expect(namesOf(await inspect('actOnFarm', replies, { body: { action: ['start'] } }))).toContain(
      'restart_may_leave_down blocking',
    );
  });

  it.each(['1,'.repeat(1_000), 'x'.repeat(100_000)])('counts an unreadable port list as all ports', async (vport) => {
    const other = { ...farm, farmname: 'other', vport };

    expect(namesOf(await restart(given({ farms: [other, farm] })))).toEqual(['restart_may_leave_down blocking']);
  });

  it('causes a warning for an L4xNAT farm too', async () => {
    expect(await only(restart(given({ profile: 'l4xnat', farms: [{ ...farm, profile: 'l4xnat' }] })))).toBe(
      'The farm shop is stopped and started again; its open connections drop. Its address, its port and the files of its certificates were checked.',
    );
  });
});

describe('a stop', () => {
  it('causes a warning without a read', async () => {
    const seen = await inspect('actOnFarm', {}, { body: { action: 'stop' } });

    expect(namesOf(seen)).toEqual(['stop_farm warning']);
    expect(seen.asked).toEqual([]);
  });

  it.each(unclear('stop'))('is detected in a body that a release may read as one: %s', async (text) => {
    expect(namesOf(await inspect('actOnFarm', given({}), { body: bodyOf(text) }))).toContain('stop_farm warning');
  });
});

describe('a moved service', () => {
  it.each(['up', 'needed restart', -1])('restarts a farm whose status is %j', async (status) => {
    expect(namesOf(await inspect('moveService', given({ status }), { body: { position: 0 } }))).toEqual([
      'moves_restart_farm blocking',
    ]);
  });

  it('restarts no farm that is stopped', async () => {
    expect(namesOf(await inspect('moveService', given({ status: 'down' }), { body: { position: 0 } }))).toEqual([]);
  });
});

describe('a call that starts or stops a farm beside L4 farms', () => {
  const l4 = { name: 'db', profile: 'l4xnat', state: 'up' };
  const shop = { name: 'shop', profile: 'http', state: 'up', vip: farm.vip, vport: '443' };
  const summary = { params: { lslb: [{ name: 'shop', profile: 'http' }, l4] } };
  const ofProxy = (routing: object) => ({
    ...given({}),
    readFarmsSummary: summary,
    readFarm: { params: { status: 'up' }, services: [{ id: 'main', farmguardian: '', backends: [], ...routing }] },
  });
  const reaching = async (replies: Replies, options: Parameters<typeof inspect>[2]) =>
    (await inspect('actOnFarm', replies, options)).findings.filter(({ guard }) => guard === 'reaches_l4_daemon');

  it('causes a warning by the last known proxy: zproxy calls the L4 daemon, pound does not', async () => {
    const options = (proxy: 'pound' | 'zproxy') => ({
      body: { action: 'restart' },
      knownFarms: [{ ...shop, proxy }, l4],
    });

    const [finding] = await reaching(given({}), options('zproxy'));

    expect(finding).toMatchObject({ severity: 'warning', message: expect.stringContaining('which serves db') });
    expect(await reaching(given({}), options('pound'))).toEqual([]);
  });

  it('causes a warning by the routing policy of its services when nothing was read before', async () => {
    const body = { action: 'restart' };

    expect(await reaching(ofProxy({ routingpolicy: 'ROUND_ROBIN' }), { body })).toHaveLength(1);
    expect(await reaching(ofProxy({}), { body })).toEqual([]);
  });

  it('is not checked before a stop, on an appliance that does not respond', async () => {
    const silence = { readFarmsSummary: refusal('timeout'), readFarmStatus: refusal('timeout') };

    const seen = await inspect('actOnFarm', silence, { body: { action: 'stop' } });

    expect(namesOf(seen)).toEqual(['stop_farm warning']);
    expect(seen.asked).toEqual([]);
  });
});

describe('a new farm', () => {
  const body = { farmname: 'new', profile: 'http', vip: farm.vip, vport: '443' };

  it('is refused on the address and port of an HTTP farm, and causes a warning on those of an L4 farm', async () => {
    const other = (profile: string, vport = '443') => ({
      ...given({ farms: [{ ...farm, profile, vport }] }),
      listFarms: { params: [{ ...farm, profile, vport }] },
    });

    const found = async (replies: Replies) => namesOf(await inspect('createFarm', replies, { body }));

    expect(await found(other('https'))).toEqual(['address_in_use blocking']);
    expect(await found(other('l4xnat', '400:500'))).toEqual(['address_in_use warning']);
    expect(await found(other('http', '8443'))).toEqual([]);
  });
});
