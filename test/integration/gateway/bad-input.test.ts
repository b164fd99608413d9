import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';

/**
 * A gateway, and a way to ask it byte for byte: clients repair or refuse much of what is asked
 * here.
 */
async function given(options: GivenOptions = {}) {
  const gateway = await givenGateway({ 'lb-1': busyWorld() }, options);
  return {
    ...gateway,
    /** Asks, and expects a refusal of this status and code, in the shape that all have. */
    async expectRefused(because: readonly [number, string], start: string, headers: readonly string[] = [], body = '') {
      const lines = [`${start} HTTP/1.1`, 'Host: gateway', `Authorization: Bearer ${gateway.tokenOf('admin')}`];
      const request = [...lines, 'Connection: close', ...headers, '', ''].join('\r\n');
      const { text } = await exchangeRaw(gateway.url, request, body);
      const [head = '', problem = ''] = text.split('\r\n\r\n');
      const [status, code] = because;

      expect(head, start).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*content-type: application/problem\\+json`));
      // The next bytes on the connection would be the rest of a body.
      expect(head, start).toMatch(/\r\nconnection: close/i);
      expect(JSON.parse(problem), start).toMatchObject({
        type: `urn:zlb-exporter:problem:${code}`,
        title: expect.stringMatching(/\w/),
        status,
        detail: expect.stringMatching(/\w/),
        code,
        remedy: expect.stringMatching(/\w/),
        request_id: /x-request-id: (\S+)/i.exec(head)?.[1],
      });
    },
    /** Expects that nothing arrived, and that the audit has these refusals of the admin. */
    async expectDenied(...codes: readonly string[]) {
      expect(gateway.appliance.requests).toEqual([]);
      expect(await gateway.audit()).toMatchObject(codes.map((code) => ({ event: 'denied', code, principal: 'admin' })));
    },
  };
}

const actions = '/appliances/lb-1/farms/shop/actions';
const json = 'Content-Type: application/json';
const chunked = 'Transfer-Encoding: chunked';

// test/unit/admin/policy/operation.test.ts has every spelling.
describe('an ambiguous path', () => {
  it.each(['/appliances/lb-1', '/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'])(
    'is refused as sent, before anything can normalise it, under %s',
    async (base) => {
      const { expectRefused, expectDenied } = await given();
      const spellings = ['..', '%2e%2e', 'a\\b', 'a%00b', '%', 'a#b', ''];

      for (const spelling of spellings)
        await expectRefused([400, 'unsafe_path'], `GET ${base}/farms/${spelling}/status`);

      await expectDenied(...spellings.map(() => 'unsafe_path'));
    },
  );

  it('needs a token, although the documentation needs none', async () => {
    const { url, appliance } = await given();

    for (const target of [
      '/docs/../appliances/lb-1/farms',
      '/docs/%2e%2e/appliances/lb-1/farms',
      '/docs/..%2fappliances/lb-1/farms',
      '/docs//appliances/lb-1/farms',
      '/docs?/appliances/lb-1/farms',
      '/docs#/appliances/lb-1/farms',
      '/docs/static/..%2f..%2f..%2fpackage.json',
      '/docs/static/%2e%2e/%2e%2e/package.json',
    ]) {
      const { text } = await exchangeRaw(url, `GET ${target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`);

      expect(text, target).not.toContain('lb-1');
      expect(text, target).not.toContain('dependencies');
      expect(Number(text.slice(9, 12)), target).toBeLessThan(500);
    }

    expect(appliance.requests).toEqual([]);
  });
});

it('an oversized header block is refused', async () => {
  const { expectRefused, metrics } = await given();

  await expectRefused([431, 'malformed_header'], 'GET /appliances/lb-1/farms', [`X-Reason: ${'a'.repeat(20_000)}`]);

  expect(await metrics()).toContain('zlb_admin_denied_total{appliance="",principal="",reason="malformed_header"} 1');
});

// test/unit/admin/calls/request-body.test.ts has every type and length, and every other fault.
describe('a request body', () => {
  it('is refused by an operation without a body, in any framing', async () => {
    const { expectRefused, expectDenied } = await given();
    const notAllowed = [400, 'body_not_allowed'] as const;

    await expectRefused(notAllowed, 'GET /appliances/lb-1/farms', [json, 'Content-Length: 2'], '{}');
    await expectRefused(notAllowed, 'DELETE /appliances/lb-1/farms/shop', [chunked], '0\r\n\r\n');

    await expectDenied('body_not_allowed', 'body_not_allowed');
  });

  it('is refused at once when it is too long, without reading the rest', async () => {
    const { expectRefused, expectDenied } = await given();
    const tooLarge = [413, 'body_too_large'] as const;
    const chunks = `100001\r\n${'a'.repeat(1_048_577)}\r\n`;
    const file = ['Content-Type: application/gzip', 'Content-Length: 33554433'];

    await expectRefused(tooLarge, `PUT ${actions}`, [json, 'Content-Length: 1048577']);
    await expectRefused(tooLarge, 'PUT /appliances/lb-1/system/backup/x', file);
    await expectRefused(tooLarge, `PUT ${actions}`, [json, chunked], chunks);

    await expectDenied('body_too_large', 'body_too_large', 'body_too_large');
  });
});

it('a token is refused when it is missing, empty, truncated, of another scheme, or one of two', async () => {
  const { call, tokenOf, appliance } = await given();
  const right = tokenOf('admin');
  const attempts = [
    {},
    { authorization: 'Bearer ' },
    { authorization: right },
    { authorization: `Basic ${Buffer.from(`admin:${right}`).toString('base64')}` },
    { authorization: `Bearer ${right.slice(0, -1)}` },
    { authorization: `Bearer ${right.toUpperCase()}` },
    { authorization: `Bearer ${right} ${right}` },
    { ZAPI_KEY: '' },
    { ZAPI_KEY: `${right}, ${right}` },
    { ZAPI_KEY: right, API_KEY: tokenOf('viewer') },
    { authorization: `Bearer ${right}`, ZAPI_KEY: 'another' },
    { cookie: `token=${right}; CGISESSID=${right}` },
    { 'x-api-key': right },
    { 'proxy-authorization': `Bearer ${right}` },
  ];

  for (const headers of attempts) {
    const answer = await call('GET', '/appliances/lb-1/farms', { as: 'none', headers });

    expect(answer.json, JSON.stringify(headers)).toMatchObject({
      status: 401,
      code: 'unauthenticated',
      remedy: expect.stringMatching(/Bearer/),
    });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  }

  expect(appliance.requests).toEqual([]);
});
