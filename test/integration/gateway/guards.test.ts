import { expect, it } from 'vitest';
import { type EndpointKey, endpoints } from '../../../src/appliance/api/table.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenSession } from './given-session.ts';

const start = { action: 'start' };
const restart = { action: 'restart' };
const drain = { action: 'maintenance', mode: 'drain' };

it.each<[string, EndpointKey, Record<string, unknown>]>([
  ['PUT /farms/shop/actions', 'readFarmStatus', start],
  ['PUT /farms/shop/actions', 'listInterfaces', restart],
  ['PUT /farms/shop/services/api', 'readService', { redirect: 'https://x.example/' }],
  ['PUT /farms/shop/services/front/backends/1/maintenance', 'readFarmStats', drain],
  ['DELETE /farms/dns/backends/0', 'listFarmBackends', {}],
  ['POST /farms/shop/services/api/actions', 'readFarmsSummary', { position: 0 }],
  ['DELETE /system/backup/weekly', 'listBackups', {}],
  ['POST /certificates/activation', 'readSystemInfo', {}],
])('every guard refuses when its read fails: %s without %s', async (request, read, body) => {
  const { findings, appliance } = await givenSession(busyWorld());
  for (const fault of [{ kind: 'status', status: 500 }, { kind: 'cut' }, { kind: 'html' }] as const) {
    appliance.fail(endpoints[read].route, fault);

    expect((await findings(request, body)).filter((finding) => finding.endsWith('blocking'))).not.toEqual([]);
  }
});
