import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../../src/appliance/api/table.ts';
import { documentStatuses } from '../../support/api-document.ts';
import { adminKey, givenGateway } from '../../support/given-gateway.ts';
import { requestFor } from '../../support/operation-requests.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { targetOf } from './given-target.ts';

const base = '/api/v4.0/api.cgi';

describe('every relayed operation of the table', () => {
  it('reaches the appliance with its method, path, content type and body', async () => {
    const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
    const echo = await startHttpsServer((response, request) => {
      void buffer(request).then((body) => {
        seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"description":"","params":[]}');
      });
    });
    const { call } = await givenGateway({}, { target: targetOf(echo) });

    for (const [key, row] of endpointRows) {
      const { method, path, request } = requestFor(row);

      const answer = await call(method, `/appliances/lb-1${path}`, request);

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
  });

  it('returns the status, type, file name and bytes of the response', async () => {
    const body = Buffer.from([0, 255, 13, 10, 1]);
    const passed = {
      'content-type': 'application/x-download; charset=ISO-8859-1',
      'content-disposition': 'attachment; filename="shop.pem"',
      'content-encoding': 'gzip',
      'content-length': String(body.length),
    };
    let status = 200;
    const echo = await startHttpsServer((response, request) => {
      void buffer(request).then(() => response.writeHead(status, passed).end(body));
    });
    const { call, audit } = await givenGateway({}, { target: targetOf(echo) });
    const statuses = documentStatuses.map(([each]) => each).filter((each) => each !== 401);

    for (status of [200, 201, ...statuses])
      for (const [method, request] of [['GET', {}] as const, ['POST', { json: { name: 'x1' } }] as const]) {
        const answer = await call(method, '/appliances/lb-1/system/backup', request);

        expect([answer.status, answer.bytes]).toEqual([status, body]);
        expect(answer.headers).toMatchObject(passed);
      }

    const outcomes = (await audit()).filter(({ event }) => event === 'outcome');
    expect(outcomes.map(({ status: seen, code, uncertain }) => [seen, code, uncertain])).toEqual(
      [200, 201, ...statuses].map((each) => [each, undefined, undefined]),
    );
  });
});
