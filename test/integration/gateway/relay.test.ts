import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpointRows } from '../../../src/appliance/api/table.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import { adminKey, givenGateway } from '../../support/given-gateway.ts';
import { requestFor } from '../../support/operation-requests.ts';
import { sendRaw } from '../../support/raw-request.ts';
import { startHttpsServer } from '../../support/tls-server.ts';

const base = '/api/v4.0/api.cgi';

describe('all operations of the table, relayed', () => {
  it('reach the appliance with their method, path, content type and body, and nothing else of the caller', async () => {
    const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
    const echo = await startHttpsServer((response, request) => {
      void buffer(request).then((body) => {
        seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"description":"","params":[]}');
      });
    });
    const { call } = await givenGateway(
      {},
      { target: { url: echo.url.href, fingerprintSha256: echo.material.fingerprintSha256 } },
    );

    for (const [key, row] of endpointRows) {
      const { method, path, request } = requestFor(row);

      const answer = await call(method, `/appliances/lb-1${path}`, {
        ...request,
        headers: {
          ...request.headers,
          cookie: 'CGISESSID=1',
          'x-http-method-override': 'DELETE',
          te: 'trailers',
          'x-forwarded-for': '10.0.0.1',
        },
      });

      expect(answer.status, key).toBe(200);
      const arrived = seen.findLast((each) => each.method === method && each.url === `${base}${path}`);
      expect(arrived, `${key} arrived`).toBeDefined();
      expect(Object.keys(arrived?.headers ?? {}).sort(), key).toEqual(
        [
          'accept',
          'accept-encoding',
          'api_key',
          'connection',
          'host',
          'zapi_key',
          ...(request.body === undefined ? [] : ['content-length', 'content-type']),
          // The appliance's server wants a length with every POST and PUT.
          ...(request.body === undefined && (method === 'POST' || method === 'PUT') ? ['content-length'] : []),
        ].sort(),
      );
      expect(arrived?.headers.zapi_key, key).toBe(adminKey);
      expect(arrived?.headers['content-type'], key).toBe(request.type);
      expect(arrived?.body.toString(), key).toBe(request.body ?? '');
    }
    console.log(`${endpointRows.length} operations arrived as they were sent`);
  });

  it('return the status, the type, the file name and the bytes of an answer', async () => {
    const statuses = [200, 201, 400, 402, 403, 404, 405, 406, 409, 410, 415, 500, 503, 504];
    let next = { status: 200, headers: {} as Record<string, string>, body: Buffer.alloc(0) };
    const echo = await startHttpsServer((response, request) => {
      void buffer(request).then(() =>
        response.writeHead(next.status, { ...next.headers, 'content-length': next.body.length }).end(next.body),
      );
    });
    const { call } = await givenGateway(
      {},
      { target: { url: echo.url.href, fingerprintSha256: echo.material.fingerprintSha256 } },
    );

    for (const [index, [key, row]] of endpointRows.slice(0, 2 * statuses.length).entries()) {
      const { method, path, request } = requestFor(row);
      next = {
        status: statuses[index % statuses.length] ?? 200,
        headers: {
          'content-type': index % 2 === 0 ? 'application/json' : 'application/x-download; charset=ISO-8859-1',
          'content-disposition': `attachment; filename="file-${index}.pem"`,
          'set-cookie': 'CGISESSID=2',
          'access-control-allow-origin': '*',
          server: 'Cherokee',
        },
        body: Buffer.from([0, 255, 13, 10, index % 256]),
      };

      const answer = await call(method, `/appliances/lb-1${path}`, request);

      expect(answer.status, key).toBe(next.status);
      expect(answer.bytes, key).toEqual(next.body);
      expect(answer.headers, key).toMatchObject({
        'content-type': next.headers['content-type'],
        'content-disposition': next.headers['content-disposition'],
        'content-length': String(next.body.length),
      });
      for (const dropped of ['set-cookie', 'access-control-allow-origin', 'server'])
        expect(answer.headers, key).not.toHaveProperty(dropped);
    }
  });

  it('are answered by a simulated appliance as if there were no gateway', async () => {
    const now = () => Date.parse('2026-11-20T21:00:00Z');
    const direct = await startSimulatedAppliance({ world: busyWorld(now()), apiKey: adminKey, now });
    const twin = await startSimulatedAppliance({ world: busyWorld(now()), apiKey: adminKey, now });
    const { call } = await givenGateway({}, { target: twin });
    // Operations that end all further calls are last; the others are in the order of their risk.
    const last = ['deleteActivationCertificate', 'updateCallingUser', 'resetToFactory'];
    const order = ['read', 'secret', 'reversible', 'disruptive', 'destructive'];
    const place = ([key, { risk }]: readonly [string, EndpointRow]) =>
      (last.indexOf(key) + 1) * 10 + order.indexOf(risk);
    const inOrder = [...endpointRows].sort((a, b) => place(a) - place(b));
    const counts = new Map<number, number>();

    for (const [key, row] of inOrder) {
      const { method, path, request } = requestFor(row);
      const content = request.body ?? '';
      const expected = await sendRaw(direct.url, {
        method,
        path: `${base}${path}`,
        headers: [
          ['Host', 'appliance'],
          ['API_KEY', adminKey],
          ...(request.type === undefined ? [] : ([['Content-Type', request.type]] as const)),
          ...(method === 'GET' || method === 'DELETE'
            ? []
            : ([['Content-Length', String(Buffer.byteLength(content))]] as const)),
        ],
        body: content,
      });

      const answer = await call(method, `/appliances/lb-1${path}`, request);

      counts.set(expected.status, (counts.get(expected.status) ?? 0) + 1);
      if (expected.status === 401) {
        expect(answer, key).toMatchObject({ status: 502, json: { code: 'upstream_unauthorized' } });
        continue;
      }
      expect(answer.status, key).toBe(expected.status);
      const type = expected.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
      expect(answer.headers['content-type'], key).toBe(type);
      expect(comparable(answer.bytes), key).toEqual(comparable(expected.body));
    }
    console.log(`${inOrder.length} operations, answered as without the gateway:`, Object.fromEntries(counts));
  });
});

/** Lists come in any order (docs/api.md §8). */
function comparable(body: Buffer): unknown {
  try {
    return sorted(JSON.parse(body.toString()));
  } catch {
    return body.toString('latin1');
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
