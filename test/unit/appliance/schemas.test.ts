import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { decode } from '../../../src/appliance/decode.ts';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';

const rows = Object.values<EndpointRow>(endpoints);
const replies = rows.flatMap(({ route, reply }) => (reply ? [{ route, reply }] : []));

/** The body as the collectors will see it; the reason as a text when it is refused. */
function read(schema: TSchema, body: unknown): unknown {
  return decode(schema, body)?.because ?? body;
}

const reading = (route: string, body: unknown): unknown => {
  const row = replies.find((each) => each.route === route);
  if (!row) throw new Error(`${route} is not read`);
  return read(row.reply, body);
};

it('polling reads only GETs that show nothing confidential, except the licence text with its dates', () => {
  // The client can only read rows with a reply. GET /certificates/activation has the risk secret,
  // because its text shows the licence; the collector keeps two dates (docs/api.md §3.19).
  const others = Object.entries<EndpointRow>(endpoints).filter(
    ([, { route, risk, reply }]) => reply && !(route.startsWith('GET ') && risk === 'read'),
  );

  expect(others.map(([key]) => key)).toEqual(['readActivationCertificate']);
  expect(endpoints.readActivationCertificate).toMatchObject({
    route: 'GET /certificates/activation',
    risk: 'secret',
    body: 'none',
  });
});

/** The smallest replies, without all that is optional; a list of named rows needs no entry. */
const smallest: Readonly<Record<string, object>> = {
  'GET /stats': { params: { cpu: {} } },
  'GET /stats/system/network': { params: { interfaces: [] } },
  'GET /stats/system/connections': { params: { connections: 0 } },
  'GET /stats/farms': { farms: [] },
  'GET /stats/farms/{farmname}': { backends: [] },
  'GET /farms': { params: [] },
  'GET /farms/modules/summary': { params: { dslb: [] } },
  'GET /farms/{farmname}': { params: { vip: '192.0.2.20' } },
  'GET /farms/{farmname}/status': { params: { status: 'up' } },
  'GET /farms/{farmname}/services/{service}': { params: { id: 'front', backends: [] } },
  'GET /farms/{farmname}/backends': { params: [] },
  'GET /monitoring/fg': { params: [] },
  'GET /certificates': { params: [] },
  'GET /certificates/letsencrypt': { params: [] },
  'GET /certificates/letsencryptz': { params: [] },
  'GET /certificates/activation/info': { params: { type: 'permanent' } },
  'GET /system/version': { params: { zevenet_version: '5.10.4' } },
  'GET /system/info': { params: { hostname: 'lb-a' } },
  'GET /system/packages': { params: { status: 'unknown' } },
  'GET /system/backup': { params: [] },
  'GET /system/cluster/nodes/localhost': { params: { role: 'master' } },
  'GET /interfaces': { interfaces: [] },
  'GET /interfaces/virtual': { interfaces: [] },
  'GET /vpns': { params: [] },
  'GET /ipds': { params: [] },
};

describe('every reply', () => {
  it.each(replies)('is refused for $route without the requested data, and with another structure', ({ reply }) => {
    const isText = 'type' in reply && reply.type === 'string';
    const nothing = [{}, { params: {} }, { description: 'A call', params: { hello: 'world' } }, { params: null }];
    const odd = [null, 'text', [], 5, { params: 'text', farms: {}, interfaces: 'none', backends: 5 }];
    const wrong = isText ? [null, {}, [], 'hello', ''] : [...nothing, ...odd];

    expect(wrong.filter((body) => decode(reply, structuredClone(body)) === undefined)).toEqual([]);
  });

  it.each(Object.entries(smallest))('is read for %s with the minimum, and with new fields', (route, least) => {
    const body = { ...least, description: 'text', brandNew: { of: ['any', 'kind'] } };

    expect(reading(route, structuredClone(body))).toEqual(body);
  });
});

describe('the schemas of quirky replies', () => {
  it('accept a farm without a readable address, and a status that is the number -1', () => {
    const farms = [{ farmname: 'shop', profile: 'https', status: -1, vip: -1, vport: -1, established: null }];

    expect(reading('GET /stats/farms', { farms })).toEqual({
      farms: [{ farmname: 'shop', profile: 'https', status: '-1', vip: '-1', vport: '-1', established: null }],
    });
  });

  it('accept the statistics of a stopped GSLB farm, whose objects became empty arrays or null', () => {
    const stopped = { backends: [], client: [], server: [], extended: [] };

    expect(reading('GET /stats/farms/{farmname}', structuredClone(stopped))).toEqual(stopped);
    expect(reading('GET /stats/farms/{farmname}', { backends: null })).toEqual({ backends: null });
  });
});
