import { get, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { failureLinesPerMinute } from '../../../src/admin/http/admin-app.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { adminKey, givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { targetOf } from './given-target.ts';

const stop = '{"action":"stop"}';

/** A gateway, and requests for it as text. */
async function given() {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });
  const headers = `Host: gateway\r\nAuthorization: Bearer ${gateway.tokenOf('admin')}\r\n`;
  return {
    ...gateway,
    headers,
    /** A change that would be carried out at once. */
    hidden: `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${stop.length}\r\n\r\n${stop}`,
    /** A request that ends a connection which is still understood. */
    last: `GET /whoami HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`,
    writes: () =>
      gateway.appliance.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
  };
}

/** A gateway on a server that notes the headers of each request. */
async function givenEcho() {
  const seen: IncomingHttpHeaders[] = [];
  const server = await startHttpsServer((response, request) => {
    seen.push(request.headers);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...(await givenGateway({}, { target: targetOf(server) })), seen, host: server.url.host };
}

// The parser of Node.js decides; the rows are a sample, each of another kind.
describe('a request with ambiguous framing', () => {
  it.each([
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
    ['compressed chunks', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
    ['chunks of another spelling', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
    ['chunks behind a bare line feed', 'X: a\nTransfer-Encoding: chunked', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 17\r\nContent-Length: 0', stop],
    ['a chunk that is longer than it says', 'Transfer-Encoding: chunked', `10\r\n${stop}\r\n0\r\n\r\n`],
  ])('is refused with %s, and neither it nor a smuggled request reaches the appliance', async (_, framing, body) => {
    const { url, headers, hidden, last, writes } = await given();
    const ambiguous = `PUT /appliances/lb-1/farms/legacy/actions HTTP/1.1\r\n${headers}Content-Type: application/json\r\n${framing}\r\n\r\n${body}`;

    const { statuses, text } = await exchangeRaw(url, ambiguous + hidden + last);

    expect(statuses).toEqual([400]);
    expect(text).toContain('"code":"malformed_request"');
    expect(text.toLowerCase()).toContain('connection: close');
    expect(writes()).toEqual([]);
  });

  it('is never parsed as two: the body of a refused request is not read as the next request', async () => {
    const { url, headers, hidden, last, writes, tokenOf, call } = await given();
    const inside = (head: string) => `${head}Content-Length: ${Buffer.byteLength(hidden)}\r\n\r\n${hidden}`;
    const as = (token: string) => `Host: gateway\r\nAuthorization: Bearer ${token}\r\n`;
    const json = 'Content-Type: application/json\r\n';
    const refusals: readonly [string, string, number][] = [
      ['without a token', `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\nHost: gateway\r\n${json}`, 401],
      ['a role too low', `POST /appliances/lb-1/system/http HTTP/1.1\r\n${as(tokenOf('viewer'))}${json}`, 403],
      ['an unknown path', `PUT /appliances/lb-1/nothing HTTP/1.1\r\n${headers}${json}`, 404],
      ['an unsafe path', `PUT /appliances/lb-1/farms/%2e%2e/actions HTTP/1.1\r\n${headers}${json}`, 400],
      ['a wrong verb', `PATCH /appliances/lb-1/farms/shop/actions HTTP/1.1\r\n${headers}${json}`, 405],
      ['a body on GET', `GET /appliances/lb-1/farms HTTP/1.1\r\n${headers}`, 400],
      [
        'a wrong type',
        `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\n${headers}Content-Type: text/plain\r\n`,
        415,
      ],
      ['no JSON', `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\n${headers}${json}`, 400],
      [
        'another origin',
        `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\n${headers}${json}Origin: https://evil.example\r\n`,
        403,
      ],
      ['a body on a page', 'GET /docs/openapi.json HTTP/1.1\r\nHost: gateway\r\n', 200],
      ['a body on an own path', `GET /whoami HTTP/1.1\r\n${headers}`, 200],
    ];

    for (const [because, head, status] of refusals) {
      const { statuses } = await exchangeRaw(url, inside(head) + last);

      expect(statuses[0], because).toBe(status);
      // The connection goes on behind the body, or not at all.
      expect([[status], [status, 200]], because).toContainEqual(statuses);
    }
    await call('PUT', '/freeze', { headers: { 'x-reason': 'incident' } });
    const frozen = await exchangeRaw(
      url,
      inside(`PUT /appliances/lb-1/system/backup/x HTTP/1.1\r\n${headers}Content-Type: application/gzip\r\n`) + last,
    );

    expect(frozen.statuses[0]).toBe(423);
    expect(writes()).toEqual([]);
  });
});

describe('pipelined requests', () => {
  it('are answered in order', async () => {
    const { url, headers, last, hidden, writes } = await given();
    const read = `GET /appliances/lb-1/farms/shop/status HTTP/1.1\r\n${headers}\r\n`;

    const { statuses, text } = await exchangeRaw(url, read + hidden + read + last);

    expect(statuses).toEqual([200, 200, 200, 200]);
    expect([...text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status)).toEqual(['problem', 'down', 'down']);
    expect(writes()).toEqual(['PUT /farms/shop/actions']);
  });

  it('lose no response of a change when the next bytes are not HTTP', async () => {
    for (const rubbish of ['\r\n\r\n\u0000', 'GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n']) {
      const { url, hidden, writes, audit } = await given();

      const { statuses, text } = await exchangeRaw(url, hidden + rubbish);

      expect(statuses, rubbish).toEqual([200]);
      expect(text, rubbish).toContain('stop is done');
      expect(writes(), rubbish).toEqual(['PUT /farms/shop/actions']);
      expect((await audit()).map(({ event, status }) => [event, status])).toEqual([
        ['intent', undefined],
        ['outcome', 200],
      ]);
    }
  });
});

describe('a connection that requests an upgrade', () => {
  it('gets a plain response, and the appliance a plain request', async () => {
    const { url, tokenOf, seen } = await givenEcho();
    const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade, close\r\nSec-WebSocket-Version: 13';

    const { statuses } = await exchangeRaw(
      url,
      `GET /appliances/lb-1/farms HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${tokenOf('admin')}\r\n${upgrade}\r\n\r\n`,
    );

    expect(statuses).toEqual([200]);
    expect(seen).toHaveLength(1);
    expect(Object.keys(seen[0] ?? {}).filter((name) => /upgrade|sec-/.test(name))).toEqual([]);
  });

  it('is closed without a response if it requests a tunnel', async () => {
    const { url, headers, hidden, appliance } = await given();

    const { text } = await exchangeRaw(url, `CONNECT lb-1:444 HTTP/1.1\r\n${headers}\r\n${hidden}`);

    expect(text).toBe('');
    expect(appliance.requests).toEqual([]);
  });
});

it('hop-by-hop headers end at the gateway, also those that Connection names', async () => {
  const { url, tokenOf, seen, host } = await givenEcho();
  const hostile = [
    'Connection: close, X-Hop, API_KEY, ZAPI_KEY, Content-Length',
    'X-Hop: 1',
    'TE: trailers',
    'Proxy-Authorization: Basic eDp5',
    'X-Forwarded-For: 10.0.0.1',
    'X-HTTP-Method-Override: DELETE',
    'Cookie: CGISESSID=0123',
    'Accept-Encoding: gzip',
    'Content-Encoding: gzip',
    'Origin: http://gateway',
    'X-Reason: why',
    'X-Request-Id: mine',
  ];

  const { statuses, text } = await exchangeRaw(
    url,
    `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\nHost: gateway\r\nZAPI_KEY: ${tokenOf('admin')}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${stop.length}\r\n${hostile.join('\r\n')}\r\n\r\n${stop}`,
  );

  expect(statuses).toEqual([200]);
  expect(text).not.toContain('x-request-id: mine');
  expect(seen).toEqual([
    {
      host,
      connection: 'keep-alive',
      accept: '*/*',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': String(stop.length),
      zapi_key: adminKey,
      api_key: adminKey,
    },
  ]);
});

describe('hundreds of invalid tokens', () => {
  it('do not fill the disk with log lines, even from many networks', async () => {
    const { url, logged } = await givenGateway({ 'lb-1': busyWorld() });
    const failure = (localAddress: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${url}/whoami`, { localAddress, agent: false }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode));
        }).once('error', reject);
      });

    const startMs = performance.now();

    for (let network = 1; network <= 16; network += 1)
      for (let attempt = 0; attempt < 30; attempt += 1) expect(await failure(`127.0.0.${network}`)).toBe(401);

    const lines = logged.filter((line) => line.includes('without a valid token'));
    const minutes = (performance.now() - startMs) / 60_000;
    expect(lines.length).toBeGreaterThanOrEqual(failureLinesPerMinute);
    expect(lines.length).toBeLessThanOrEqual(failureLinesPerMinute * (1 + minutes));
  });

  it('are rate limited after the first few, while a valid token is always served', async () => {
    const { call, metrics, logged, audit } = await givenGateway({ 'lb-1': busyWorld() });
    const statuses: number[] = [];

    for (let attempt = 0; attempt < 100; attempt += 1)
      statuses.push((await call('GET', '/whoami', { as: makeToken().token })).status);
    const refused = await call('GET', '/whoami', { as: makeToken().token });
    const right = await call('GET', '/whoami', { as: 'viewer' });

    expect(statuses).toEqual(Array.from({ length: 100 }, (_, attempt) => (attempt < 30 ? 401 : 429)));
    expect(refused.json).toMatchObject({ code: 'too_many_failures', remedy: expect.stringMatching(/token/) });
    expect(refused.headers['retry-after']).toMatch(/^(?:[1-9]|[1-5]\d|60)$/);
    expect(right.status).toBe(200);
    expect(logged.filter((line) => line.includes('without a valid token'))).toHaveLength(30);
    expect(await metrics()).toContain(
      'zlb_admin_denied_total{appliance="",principal="",reason="too_many_failures"} 71',
    );
    // An attacker must not be able to fill the disk.
    expect(await audit()).toEqual([]);
  });

  it('name their owner in the audit if they have expired, and do not fill it', async () => {
    const { token } = makeToken();
    const { call, audit } = await givenGateway(
      { 'lb-1': busyWorld() },
      { tokens: [{ token, name: 'former', expiresAtMs: 0 }] },
    );

    const { headers, json } = await call('GET', '/whoami', { as: token });
    for (let attempt = 0; attempt < 100; attempt += 1) await call('GET', '/whoami', { as: token });

    expect(json).toMatchObject({ status: 401, code: 'token_expired', remedy: expect.stringMatching(/token/) });
    expect(headers['www-authenticate']).toMatch(/^Bearer/);
    const lines = await audit();
    expect(lines).toHaveLength(30);
    expect(lines[0]).toMatchObject({ event: 'denied', principal: 'former', code: 'token_expired', path: '/whoami' });
  });
});
