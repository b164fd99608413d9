import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';

interface Asked {
  readonly as?: string;
  /** Complete lines, as they go on the wire. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/**
 * A gateway, and a way to ask it byte for byte: clients repair or refuse much of what is asked
 * here.
 */
async function given(options: GivenOptions = {}) {
  const gateway = await givenGateway({ 'lb-1': busyWorld() }, options);
  const head = (method: string, target: string, { as = gateway.tokenOf('admin'), headers = [] }: Asked) =>
    [
      `${method} ${target} HTTP/1.1`,
      'Host: gateway',
      `Authorization: Bearer ${as}`,
      'Connection: close',
      ...headers,
      '',
      '',
    ].join('\r\n');
  return {
    ...gateway,
    head,
    async ask(method: string, target: string, asked: Asked = {}) {
      const { text } = await exchangeRaw(gateway.url, head(method, target, asked) + (asked.body ?? ''));
      return parsed(text);
    },
    /** Expects that a refused request does not arrive, and that the audit names its principal. */
    async expectDenied(...codes: readonly string[]) {
      expect(gateway.appliance.requests).toEqual([]);
      const lines = await gateway.audit();
      expect(lines.map(({ event, code, principal }) => ({ event, code, principal }))).toEqual(
        codes.map((code) => ({ event: 'denied', code, principal: 'admin' })),
      );
    },
  };
}

function parsed(text: string) {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = text.slice(end + 4);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), headers, body };
}

type Answer = ReturnType<typeof parsed>;

function problemOf({ body }: Answer): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>;
}

/** The shape that every refusal has. */
function expectProblem(answer: Answer, status: number, code: string, about: string): void {
  expect({ status: answer.status, type: answer.headers['content-type']?.split(';')[0] }, about).toEqual({
    status,
    type: 'application/problem+json',
  });
  expect(problemOf(answer), about).toMatchObject({
    type: `urn:zlb-exporter:problem:${code}`,
    title: expect.stringMatching(/\w/),
    status,
    detail: expect.stringMatching(/\w/),
    code,
    remedy: expect.stringMatching(/\w/),
    request_id: answer.headers['x-request-id'],
  });
  expect(answer.headers['x-request-id'], about).toMatch(/^[\da-f-]{36}$/);
}

const actions = '/appliances/lb-1/farms/shop/actions';
const json = 'Content-Type: application/json';
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`;

// test/unit/gateway/operation.test.ts has every spelling.
describe('an ambiguous path', () => {
  it.each(['/appliances/lb-1', '/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'])(
    'is refused as it was sent, before anything on the way can repair it: under %s',
    async (base) => {
      const { ask, expectDenied } = await given();
      const spellings = ['..', '%2e%2e', 'a%2fb', 'a\\b', '%252e', 'a%00b', 'a%0d%0ab', '%', '%ff', 'a#b', ''];

      for (const spelling of spellings)
        expectProblem(await ask('GET', `${base}/farms/${spelling}/status`), 400, 'unsafe_path', spelling);

      await expectDenied(...spellings.map(() => 'unsafe_path'));
    },
  );

  it('is not accepted as the name of an appliance', async () => {
    const { ask, expectDenied } = await given();
    const spellings = ['..', '..%2flb-1', 'lb-1%2f', 'lb-1%00', '%6cb-1%2f..%2flb-1', '%ff', ''];

    for (const spelling of spellings)
      expectProblem(await ask('GET', `/appliances/${spelling}/farms`), 404, 'unknown_appliance', spelling);

    await expectDenied(...spellings.map(() => 'unknown_appliance'));
  });

  it('is refused for its length first, and the audit has its beginning', async () => {
    const { ask, audit, expectDenied } = await given();

    const answer = await ask('GET', `/appliances/lb-1/farms/${'a'.repeat(10_000)}`);

    expectProblem(answer, 414, 'path_too_long', 'long');
    await expectDenied('path_too_long');
    expect(String((await audit())[0]?.path)).toHaveLength(256);
  });

  it('needs a token, although the documentation needs none', async () => {
    const { url, appliance } = await given();

    for (const target of [
      '/docs/../appliances/lb-1/farms',
      '/docs/%2e%2e/appliances/lb-1/farms',
      '/docs/..%2fappliances/lb-1/farms',
      '/docs//appliances/lb-1/farms',
      '/docs/%zz',
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

describe('a header', () => {
  it.each(['X-Dry-Run', 'X-Force'])(
    '%s that is neither true nor false is refused: a typing mistake must not turn a dry run into a change',
    async (name) => {
      const { ask, expectDenied } = await given();
      const body = '{"action":"stop"}';
      const slips = [[`${name}: yes`], [`${name}: true`, `${name}: true`], [`${name}: true`, `${name}: false`]];

      for (const slip of slips) {
        const answer = await ask('PUT', actions, { headers: [...slip, json, lengthOf(body)], body });

        expectProblem(answer, 400, 'malformed_header', slip.join(' '));
      }

      await expectDenied(...slips.map(() => 'malformed_header'));
    },
  );

  it.each([
    ['a carriage return', 'X-Reason: a\rX-Force: true'],
    ['a line folded as of old', 'X-Reason: a\r\n X-Force: true'],
    ['a NUL', 'X-Reason: a\u0000b'],
    ['a space before the colon', 'X-Reason : a'],
  ])('with %s is refused as malformed HTTP', async (_, line) => {
    const { ask, appliance, audit } = await given();

    const answer = await ask('PUT', actions, { headers: [line] });

    expectProblem(answer, 400, 'malformed_request', line);
    expect(appliance.requests).toEqual([]);
    // The principal could not be read.
    expect(await audit()).toEqual([]);
  });

  it('with a secret in its reason shows it neither in the audit, nor in the log, nor to readers of the freeze', async () => {
    const { call, auditText, logged } = await given();

    await call('PUT', actions, {
      json: { action: 'stop' },
      headers: { 'x-reason': 'ticket 7 pw=Canary-4711 now' },
    });
    await call('PUT', '/freeze', { headers: { 'x-reason': 'ticket%207%20pw%3DCanary-4711%20now' } });
    const state = await call('GET', '/freeze', { as: 'viewer' });
    const refused = await call('PUT', actions, { json: { action: 'start' } });

    expect(state.json?.reason).toBe('ticket 7 pw=[redacted] now');
    expect(refused.text).toContain('pw=[redacted] now');
    for (const text of [state.text, refused.text, await auditText(), logged.join('')])
      expect(text).not.toContain('Canary');
  });

  it('block that is too long is refused', async () => {
    const { ask, appliance, metrics } = await given();

    const answer = await ask('GET', '/appliances/lb-1/farms', { headers: [`X-Reason: ${'a'.repeat(20_000)}`] });

    expectProblem(answer, 431, 'malformed_header', 'long');
    expect(appliance.requests).toEqual([]);
    expect(await metrics()).toContain('zlb_admin_denied_total{appliance="",principal="",reason="malformed_header"} 1');
  });

  it('with a percent-encoded line break stays one line in the audit, and is not sent on', async () => {
    const { call, audit, auditText, logged, appliance } = await given();
    const reason = 'a%0d%0aX-Force: true%0a{"event":"intent","seq":1}';

    const answer = await call('PUT', actions, { json: { action: 'stop' }, headers: { 'x-reason': reason } });

    expect(answer.status).toBe(200);
    const decoded = decodeURIComponent(reason);
    expect((await audit()).map((line) => line.reason)).toEqual([decoded, decoded]);
    // Start, intent, outcome, and nothing after the last line break.
    expect((await auditText()).split('\n')).toHaveLength(4);
    expect(logged.join('')).not.toContain('"seq":1');
    expect(appliance.requests.map(({ path }) => path).filter((path) => path !== '/system/version')).toEqual([
      '/farms/shop/actions',
    ]);
  });
});

// test/unit/gateway/request-body.test.ts has every type and length, and what is no JSON object.
describe('a body', () => {
  it('of the wrong type is refused, and one with a harmless parameter is accepted', async () => {
    const { ask, expectDenied } = await given();
    const body = '{"action":"stop"}';
    const withType = (type: string) => ask('PUT', actions, { headers: [type, lengthOf(body)], body });

    expectProblem(await withType('Content-Type: text/plain'), 415, 'wrong_content_type', 'text');
    await expectDenied('wrong_content_type');

    // The appliance itself refuses all but the bare type, so that its 200 proves what it was sent.
    expect((await withType('Content-Type: Application/JSON;charset=UTF-8')).status).toBe(200);
  });

  it('is refused by an operation without a body, in any framing', async () => {
    const { ask, expectDenied } = await given();
    const chunked = 'Transfer-Encoding: chunked';
    const confirmed = 'X-Confirm: shop';

    const answers = [
      await ask('GET', '/appliances/lb-1/farms', { headers: [json, lengthOf('{}')], body: '{}' }),
      await ask('GET', '/appliances/lb-1/farms', { headers: [chunked], body: '0\r\n\r\n' }),
      await ask('DELETE', '/appliances/lb-1/farms/shop', { headers: [confirmed, lengthOf('{}')], body: '{}' }),
      await ask('DELETE', '/appliances/lb-1/farms/shop', { headers: [confirmed, chunked], body: '0\r\n\r\n' }),
    ];

    for (const [index, answer] of answers.entries()) expectProblem(answer, 400, 'body_not_allowed', String(index));
    await expectDenied(...answers.map(() => 'body_not_allowed'));
  });

  it('that is no JSON object is refused without repeating it', async () => {
    const { ask, expectDenied, logged } = await given();
    const body = '{"password":"Canary-1';

    const answer = await ask('PUT', actions, { headers: [json, lengthOf(body)], body });

    expectProblem(answer, 400, 'malformed_body', body);
    await expectDenied('malformed_body');
    expect(answer.body + logged.join('')).not.toContain('Canary');
  });

  it('that has a member twice is refused with its name, as a dry run too', async () => {
    const { call, expectDenied } = await given();
    const twice = { body: '{"action":"start","\\u0061ction":"stop"}', type: 'application/json' };

    for (const headers of [{}, { 'x-dry-run': 'true' }])
      expect((await call('PUT', actions, { ...twice, headers })).json).toMatchObject({
        status: 400,
        code: 'malformed_body',
        detail: expect.stringContaining('"action"'),
        remedy: expect.stringMatching(/once/),
      });
    await expectDenied('malformed_body', 'malformed_body');
  });

  it('of extreme depth passes unchanged, and is masked as a whole below some depth', async () => {
    const { ask, audit } = await given();
    const body = `${'{"a":'.repeat(50_000)}"Canary-1"${'}'.repeat(50_000)}`;

    const answer = await ask('PUT', actions, { headers: [json, lengthOf(body)], body });

    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(JSON.stringify(await audit())).not.toContain('Canary');
  });

  it('that is too long is refused as soon as possible, without reading the rest', async () => {
    const { ask, head, url, expectDenied } = await given({ admin: { uploadBytes: 100_000 } });
    const chunks = `100001\r\n${'a'.repeat(1_048_577)}\r\n`;

    const declared = await ask('PUT', actions, { headers: [json, 'Content-Length: 1048577'] });
    const upload = await ask('PUT', '/appliances/lb-1/system/backup/x', {
      headers: ['Content-Type: application/gzip', 'Content-Length: 100001'],
    });
    const withoutEnd = parsed(
      (await exchangeRaw(url, head('PUT', actions, { headers: [json, 'Transfer-Encoding: chunked'] }), chunks)).text,
    );

    for (const answer of [declared, upload, withoutEnd]) {
      expectProblem(answer, 413, 'body_too_large', answer.body);
      // The next bytes on the connection would be the rest of the body.
      expect(answer.headers.connection).toBe('close');
    }
    await expectDenied('body_too_large', 'body_too_large', 'body_too_large');
  });

  it('that stalls is refused, and nothing is sent', async () => {
    const { ask, expectDenied } = await given({ admin: { timeoutMs: 300 } });

    const answer = await ask('PUT', actions, { headers: [json, 'Content-Length: 100'], body: '{"action":' });

    expectProblem(answer, 408, 'body_too_slow', 'stalled');
    expect(answer.headers.connection).toBe('close');
    await expectDenied('body_too_slow');
  });

  it('of a refused call is not read, also in the middle', async () => {
    const { ask, call, url, head } = await given();
    await call('PUT', '/freeze', { headers: { 'x-reason': 'incident' } });
    const headers = ['Content-Type: application/gzip', 'Content-Length: 100000'];

    const refused = await ask('PUT', '/appliances/lb-1/system/backup/x', { headers, body: 'a'.repeat(50_000) });
    const again = parsed(
      (await exchangeRaw(url, head('PUT', '/appliances/lb-1/system/backup/x', { headers }), 'a', 'b', 'c')).text,
    );

    expectProblem(refused, 423, 'frozen', 'refused');
    expectProblem(again, 423, 'frozen', 'again');
    expect((await call('GET', '/whoami')).status).toBe(200);
  });
});

describe('a token', () => {
  it('in the query is refused even with a right one in the header, and neither is logged', async () => {
    const { ask, expectDenied, auditText, logged } = await given();
    const queries = ['token=CanaryInUrl', 'a=1&ZAPI_KEY=CanaryInUrl', 'api%5Fkey=CanaryInUrl&b=%zz'];

    for (const query of queries) {
      const answer = await ask('GET', `/appliances/lb-1/farms?${query}`);

      expectProblem(answer, 400, 'token_in_url', query);
      expect(answer.body).not.toContain('Canary');
    }

    await expectDenied(...queries.map(() => 'token_in_url'));
    expect((await auditText()) + logged.join('')).not.toContain('Canary');
  });

  it('is refused if it is missing, empty, cut, of another scheme, or one of two', async () => {
    const { call, tokenOf, appliance } = await given();
    const right = tokenOf('admin');
    const attempts = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer ' },
      { authorization: right },
      { authorization: `Basic ${Buffer.from(`admin:${right}`).toString('base64')}` },
      { authorization: `Bearer ${right.slice(0, -1)}` },
      { authorization: `Bearer ${right}=` },
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
      const answer = await call('GET', '/appliances/lb-1/farms', {
        as: 'none',
        headers,
      });

      expect(answer.json, JSON.stringify(headers)).toMatchObject({
        status: 401,
        code: 'unauthenticated',
        remedy: expect.stringMatching(/Bearer/),
      });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }

    expect(appliance.requests).toEqual([]);
  });
});
