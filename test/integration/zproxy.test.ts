import { describe, expect, it } from 'vitest';
import { createApi } from '../../simulator/api.ts';
import { endHang, hungProxyWaitMs, leaveProcess, leftProcesses, webServerLimitMs } from '../../simulator/hung-proxy.ts';
import { hangL4Daemon, killL4Daemon, resumeL4Daemon } from '../../simulator/l4-daemon.ts';
import { recordedZevenetWorld } from '../../simulator/scenes/recorded-later.ts';
import { type Farm, farmStatus, type L4Farm } from '../../simulator/world-farms.ts';

/** The recorded ZEVENET appliance, and what its API answers to a call. */
function givenZevenet() {
  const world = recordedZevenetWorld();
  world.users.get('root')!.key = 'key';
  const api = createApi(world);
  const farm = <Kind extends Farm = Farm>(name: string) => world.farms.get(name) as Kind;
  return {
    world,
    farm,
    refused: () => ['db-l4', 'multi-l4'].filter((name) => farm<L4Farm>(name).hasNoRules === true),
    send(method: string, path: string, body: object = {}) {
      const headers = { zapi_key: 'key', 'content-type': 'application/json' };
      const content = Buffer.from(JSON.stringify(body));
      return api.answer({ method, headers, path, shown: path, content, nowMs: Date.now() });
    },
  };
}

const restart = { action: 'restart' };
const created = { farmname: 'new', profile: 'http', vip: '192.168.101.21', vport: '8099' };
const writes = [
  ['a restart', 'PUT', '/farms/redirector/actions', restart, true],
  ['a stop', 'PUT', '/farms/redirector/actions', { action: 'stop' }, true],
  ['a creation', 'POST', '/farms', created, true],
  ['a deletion', 'DELETE', '/farms/redirector', {}, true],
  ['a new backend', 'POST', '/farms/webshop/services/api/backends', { ip: '10.10.10.9', port: 80 }, false],
  ['a weight', 'PUT', '/farms/webshop/services/api/backends/0', { weight: 3 }, false],
  [
    'maintenance',
    'PUT',
    '/farms/webshop/services/api/backends/0/maintenance',
    { action: 'maintenance', mode: 'drain' },
    false,
  ],
] as const;

describe('a zproxy HTTP farm', () => {
  it.each(writes)(
    'leaves L4 farm states unchanged on %s with a dead daemon, even where it cuts the farms',
    (_, method, path, body, cuts) => {
      const { world, farm, refused, send } = givenZevenet();
      const words = () => ['db-l4', 'dns-udp', 'multi-l4'].map((name) => farmStatus(farm(name)));
      const said = words();
      killL4Daemon(world, { pidFileStays: true });

      const { status } = send(method, path, body);

      expect(status).toBeLessThan(300);
      expect(refused()).toEqual(cuts ? ['db-l4', 'multi-l4'] : []);
      expect(words()).toEqual(said);
    },
  );

  it('is stopped by a restart while the daemon hangs, with 504 after 61 s, and starts when it resumes', () => {
    const { world, farm, send } = givenZevenet();
    hangL4Daemon(world);

    expect(send('PUT', '/farms/redirector/actions', restart)).toEqual({ kind: 'page', status: 504, afterMs: 61_000 });
    expect(farmStatus(farm('redirector'))).toBe('down');
    resumeL4Daemon(world);

    expect(farmStatus(farm('redirector'))).toBe('up');
  });

  it('needs no restart: a change applies at once, and the response has the state', () => {
    const { farm, send } = givenZevenet();

    const answer = send('PUT', '/farms/webshop/services/api/backends/0', { weight: 3 });

    expect(answer).toMatchObject({ value: { status: 'problem', params: { weight: '3' } } });
    expect(farmStatus(farm('webshop'))).toBe('problem');
  });
});

describe('a hung zproxy', () => {
  const list = ['GET /stats/farms', '/stats/farms'] as const;
  const ofFarm = (name: string) => ['GET /farms/{farmname}/status', `/farms/${name}/status`] as const;

  // Each read as it was recorded while the proxy of secure-shop was stopped by SIGSTOP.
  it.each([
    ['GET /farms', '/farms', webServerLimitMs],
    ['GET /stats/farms', '/stats/farms', webServerLimitMs],
    ['GET /farms/modules/lslb', '/farms/modules/lslb', webServerLimitMs],
    ['GET /farms/modules/summary', '/farms/modules/summary', 200],
    ['GET /farms/{farmname}', '/farms/secure-shop', webServerLimitMs],
    ['GET /farms/{farmname}/status', '/farms/secure-shop/status', webServerLimitMs],
    ['GET /farms/{farmname}/summary', '/farms/secure-shop/summary', webServerLimitMs],
    ['GET /farms/{farmname}/services/{service}', '/farms/secure-shop/services/secure', webServerLimitMs],
    [
      'GET /farms/{farmname}/services/{service}/backends',
      '/farms/secure-shop/services/secure/backends',
      webServerLimitMs,
    ],
    ['GET /stats/farms/{farmname}', '/stats/farms/secure-shop', webServerLimitMs],
    ['GET /farms/{farmname}/status', '/farms/intranet/status', 500],
    ['GET /stats/farms/{farmname}', '/stats/farms/intranet', 500],
    ['GET /stats', '/stats', 0],
    ['PUT /farms/{farmname}/actions', '/farms/secure-shop/actions', 5_000],
  ])('makes %s of %s take %i ms', (route, path, ms) => {
    const { world, farm } = givenZevenet();
    farm('secure-shop').runState = 'hung';

    expect(hungProxyWaitMs(world, route, path)).toBe(ms);
  });

  it.each(['its restart', 'the end of its hang'])('keeps the process of each call until %s', (end) => {
    const { world, farm, send } = givenZevenet();
    farm('secure-shop').runState = 'hung';
    leaveProcess(world, list[1]);
    leaveProcess(world, ofFarm('secure-shop')[1]);
    expect(leftProcesses(world)).toBe(2);

    if (end === 'its restart') send('PUT', '/farms/secure-shop/actions', restart);
    else endHang(farm('secure-shop'));

    expect([leftProcesses(world), farmStatus(farm('secure-shop'))]).toEqual([0, 'maintenance']);
  });
});
