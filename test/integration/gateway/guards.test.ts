import { describe, expect, it } from 'vitest';
import type { EndpointKey } from '../../../src/appliance/api/table.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { emptyCommunityWorld } from '../../../simulator/scenes/sizes.ts';
import type { HttpFarm } from '../../../simulator/world-farms.ts';
import type { World } from '../../../simulator/world.ts';
import { givenReach } from './given-reach.ts';

const start = { action: 'start' };
const restart = { action: 'restart' };
const drain = { action: 'maintenance', mode: 'drain' };

describe('every guard', () => {
  it('only sends reads', async () => {
    const { findings, appliance } = await givenReach(busyWorld());

    await findings('PUT /farms/shop/actions', start);
    await findings('PUT /farms/shop/services/api', { redirect: 'https://x.example/' });
    await findings('PUT /farms/shop/services/api/backends/1/maintenance', drain);
    await findings('POST /farms/shop/services/api/actions', { position: 0 });
    await findings('DELETE /system/backup/week');
    await findings('POST /certificates/activation');

    expect(appliance.requests.length).toBeGreaterThan(6);
    expect(appliance.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each<[string, EndpointKey, Record<string, unknown>]>([
    ['PUT /farms/shop/actions', 'readFarmStatus', start],
    ['PUT /farms/shop/actions', 'listInterfaces', restart],
    ['PUT /farms/shop/services/api', 'readService', { redirect: 'https://x.example/' }],
    ['PUT /farms/shop/services/front/backends/1/maintenance', 'readFarmStats', drain],
    ['DELETE /farms/dns/backends/0', 'listFarmBackends', {}],
    ['POST /farms/shop/services/api/actions', 'readFarmsSummary', { position: 0 }],
    ['DELETE /system/backup/weekly', 'listBackups', {}],
    ['POST /certificates/activation', 'readSystemInfo', {}],
  ])('refuses when its read fails: %s without %s', async (request, read, body) => {
    const { findings, appliance } = await givenReach(busyWorld());
    const routes = {
      readFarmStatus: 'GET /farms/{farmname}/status',
      listInterfaces: 'GET /interfaces',
      readService: 'GET /farms/{farmname}/services/{service}',
      readFarmStats: 'GET /stats/farms/{farmname}',
      listFarmBackends: 'GET /farms/{farmname}/backends',
      readFarmsSummary: 'GET /farms/modules/summary',
      listBackups: 'GET /system/backup',
      readSystemInfo: 'GET /system/info',
    } as Partial<Record<EndpointKey, string>>;
    for (const fault of [{ kind: 'status', status: 500 }, { kind: 'cut' }, { kind: 'html' }] as const) {
      appliance.fail(routes[read] ?? '', fault);

      expect((await findings(request, body)).filter((finding) => finding.endsWith('blocking'))).not.toEqual([]);
    }
  });
});

describe('a start', () => {
  it('of a running HTTP farm is refused; without its interface the farm would stay down', async () => {
    const { findings, call, appliance } = await givenReach(busyWorld());
    appliance.world.interfaces.get('eth0:web')!.status = 'down';

    expect(await findings('PUT /farms/shop/actions', start)).toEqual([
      'hard_restart blocking',
      'restart_may_leave_down blocking',
    ]);

    await call('PUT', '/farms/shop/actions', { json: start });
    expect(appliance.world.farms.get('shop')?.running).toBe(false);
  });

  it.each(['oldportal', 'db', 'nowhere'])('of %s is permitted', async (farm) => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings(`PUT /farms/${farm}/actions`, start)).toEqual([]);
  });
});

describe('a restart', () => {
  const traps: readonly [string, (world: World) => void][] = [
    ['its address is on no interface', (world) => world.interfaces.delete('eth0:web')],
    ['its interface is down', (world) => Object.assign(world.interfaces.get('eth0:web') ?? {}, { status: 'down' })],
    [
      'what its interface stands on is down',
      (world) => Object.assign(world.interfaces.get('eth0') ?? {}, { status: 'down' }),
    ],
    ['another farm has its port', (world) => Object.assign(world.farms.get('legacy') ?? {}, { vport: '443' })],
  ];

  it.each(traps)('is refused when %s, because the farm would stay down', async (_, spring) => {
    const { findings, call, appliance } = await givenReach(busyWorld());
    spring(appliance.world);

    expect(await findings('PUT /farms/shop/actions', restart)).toEqual(['restart_may_leave_down blocking']);

    expect((await call('PUT', '/farms/shop/actions', { json: restart })).status).toBe(400);
    expect(appliance.world.farms.get('shop')?.running).toBe(false);
  });

  it.each(['shop', 'payments', 'legacy', 'db', 'dns'])(
    'of %s is only a warning, because the farm starts again',
    async (farm) => {
      const { findings, call } = await givenReach(busyWorld());

      expect(await findings(`PUT /farms/${farm}/actions`, restart)).toEqual(['restart_may_leave_down warning']);

      expect((await call('PUT', `/farms/${farm}/actions`, { json: restart })).status).toBe(200);
    },
  );

  it('reads the virtual interfaces of a release that omits their status', async () => {
    const { findings, appliance } = await givenReach(recordedWorld());

    expect(await findings('PUT /farms/webshop/actions', restart)).toEqual(['restart_may_leave_down warning']);
    appliance.world.interfaces.get('eth0:web')!.status = 'down';
    expect(await findings('PUT /farms/webshop/actions', restart)).toEqual(['restart_may_leave_down blocking']);
  });

  it.each(['site', 'mail', 'uplinks'])('of %s on an older release is only a warning', async (farm) => {
    const { findings } = await givenReach(olderEnterpriseWorld());

    expect(await findings(`PUT /farms/${farm}/actions`, restart)).toEqual(['restart_may_leave_down warning']);
  });
});

describe('a redirect', () => {
  it('that deletes backends is refused', async () => {
    const { findings, call, appliance } = await givenReach(busyWorld());
    const redirect = { redirect: 'https://x.example/' };

    expect(await findings('PUT /farms/shop/services/front', redirect)).toEqual(['redirect_deletes_backends blocking']);

    await call('PUT', '/farms/shop/services/front', { json: redirect });
    expect((appliance.world.farms.get('shop') as HttpFarm).services[0]?.backends).toEqual([]);
  });

  it.each([
    ['redirect/services/redir', { redirect: 'https://x.example/' }],
    ['shop/services/front', { redirect: '', ttl: 60 }],
    ['shop/services/front', { vhost: 'shop' }],
    ['shop/services/nowhere', { redirect: 'https://x.example/' }],
  ])('that deletes nothing is permitted: %s with %j', async (path, body) => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings(`PUT /farms/${path}`, body)).toEqual([]);
  });
});

describe('the last healthy backend', () => {
  it.each([
    ['PUT /farms/shop/services/api/backends/1/maintenance', drain],
    ['DELETE /farms/shop/services/api/backends/1', {}],
    ['PUT /farms/intranet/services/main/backends/0/maintenance', { action: 'maintenance', mode: 'cut' }],
  ])('is kept in service: %s %j', async (request, body) => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings(request, body)).toEqual(['last_healthy_backend blocking']);
  });

  it('is kept in an L4xNAT farm', async () => {
    const { findings, call } = await givenReach(busyWorld());
    expect(await findings('PUT /farms/db/backends/0/maintenance', drain)).toEqual([]);

    await call('PUT', '/farms/db/backends/0/maintenance', { json: drain });

    expect(await findings('PUT /farms/db/backends/1/maintenance', drain)).toEqual(['last_healthy_backend blocking']);
    expect(await findings('DELETE /farms/db/backends/1')).toEqual(['last_healthy_backend blocking']);
  });

  it.each([
    ['another one is up', 'PUT /farms/shop/services/front/backends/2/maintenance', drain],
    ['it is down itself', 'DELETE /farms/shop/services/api/backends/0', {}],
    ['all are down', 'PUT /farms/legacy/services/main/backends/0/maintenance', drain],
    ['it is brought back', 'PUT /farms/intranet/services/main/backends/1/maintenance', { action: 'up' }],
    ['the farm is stopped', 'DELETE /farms/oldportal/services/main/backends/0', {}],
  ])('is not guarded when %s', async (_, request, body) => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings(request, body)).toEqual([]);
  });
});

describe('an id one past the last', () => {
  it('is refused, although the appliance accepts it', async () => {
    const { findings, call } = await givenReach(busyWorld());
    const request = '/farms/shop/services/front/backends/3/maintenance';

    expect(await findings(`PUT ${request}`, drain)).toEqual(['unknown_backend blocking']);

    expect((await call('PUT', request, { json: drain })).status).toBe(200);
  });

  it.each([
    'PUT /farms/db/backends/3/maintenance',
    'DELETE /farms/db/backends/3',
    'DELETE /farms/shop/services/front/backends/9',
  ])('is refused in %s', async (request) => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings(request, drain)).toEqual(['unknown_backend blocking']);
  });
});

describe('maintenance', () => {
  it.each(['oldportal', 'payments'])(
    'of a backend of %s is refused, because the appliance crashes or refuses',
    async (farm) => {
      const { findings } = await givenReach(busyWorld());

      expect(await findings(`PUT /farms/${farm}/services/main/backends/0/maintenance`, { action: 'up' })).toEqual([
        'maintenance_on_stopped_farm blocking',
      ]);
    },
  );

  it('crashes the newest Community release on a stopped farm, as the guard says', async () => {
    const { findings, call } = await givenReach(recordedWorld());
    const request = '/farms/oldportal/services/main/backends/0/maintenance';

    expect(await findings(`PUT ${request}`, drain)).toEqual(['maintenance_on_stopped_farm blocking']);

    expect((await call('PUT', request, { json: drain })).status).toBe(500);
  });
});

describe('the name of a backup', () => {
  it('that is only the beginning of another one is refused, because that one would be deleted', async () => {
    const { findings, call, appliance } = await givenReach(recordedWorld());

    expect(await findings('DELETE /system/backup/before')).toEqual(['backup_name_prefix blocking']);
    expect(await findings('POST /system/backup/before/actions', { action: 'apply' })).toEqual([
      'backup_name_prefix blocking',
    ]);

    await call('DELETE', '/system/backup/before');
    expect(appliance.world.backups.size).toBe(0);
  });

  it.each(['before-upgrade', 'after'])('that is %s is permitted', async (name) => {
    const { findings } = await givenReach(recordedWorld());

    expect(await findings(`DELETE /system/backup/${name}`)).toEqual([]);
  });
});

describe('moving a service', () => {
  it('is refused for a running farm, and permitted for a stopped one', async () => {
    const { findings } = await givenReach(busyWorld());

    expect(await findings('POST /farms/shop/services/api/actions', { position: 0 })).toEqual([
      'moves_restart_farm blocking',
    ]);
    expect(await findings('POST /farms/oldportal/services/main/actions', { position: 0 })).toEqual([]);
  });
});

describe('an activation certificate', () => {
  it('for a Community appliance is refused, because it would be stored', async () => {
    const { findings, call, appliance } = await givenReach(emptyCommunityWorld());

    expect(await findings('POST /certificates/activation')).toEqual(['stray_activation_file blocking']);

    expect((await call('POST', '/certificates/activation', { body: 'PEM', type: 'text/plain' })).status).toBe(200);
    expect([...appliance.world.certificates.keys()]).toEqual(['activation.pem']);
  });

  it.each<[string, () => World]>([
    ['an activated appliance', busyWorld],
    ['a deactivated one', deactivatedWorld],
    ['an older one', olderEnterpriseWorld],
  ])('for %s is permitted', async (_, world) => {
    const { findings } = await givenReach(world());

    expect(await findings('POST /certificates/activation')).toEqual([]);
  });
});
