import { describe, expect, it } from 'vitest';
import type { EndpointKey } from '../../../src/appliance/api/table.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
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
