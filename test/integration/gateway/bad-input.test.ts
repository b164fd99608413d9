import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { adminKey, type GivenOptions, givenGateway, minutePerLook } from '../../support/given-gateway.ts';
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
    async expectDenied(codes: readonly string[], principal = 'admin') {
      expect(gateway.appliance.requests).toEqual([]);
      const lines = await gateway.audit();
      expect(lines.map(({ event, code }) => `${String(event)} ${String(code)}`)).toEqual(
        codes.map((code) => `denied ${code}`),
      );
      expect(new Set(lines.map((line) => line.principal))).toEqual(new Set([principal]));
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

describe('an ambiguous path', () => {
  const spellings = Object.values({
    dots: ['..', '.', '%2e%2e', '%2E%2E', '.%2e', '%2e.', '%2e', '..%2f..', '..%5c..', '..%00', '..%c0%af'],
    slashes: ['a%2fb', 'a%2Fb', '%2f', 'a%5cb', 'a%5Cb', 'a\\b', '\\'],
    twice: ['%252e%252e', '%252e', 'a%252fb', 'a%252Fb', 'a%255cb', 'a%2500b', '%25252e%25252e'],
    control: ['a%00b', '%00', 'a%0ab', 'a%0db', 'a%0d%0ab', 'a%09b', 'a%1fb', 'a%7fb', 'shop%0a'],
    undecodable: [
      '%',
      'a%',
      '%2',
      '%zz',
      '%ff',
      '%c3',
      '%c3%28',
      '%c0%ae%c0%ae',
      '%e0%80%ae',
      '%ed%a0%80',
      '%f4%90%80%80',
    ],
    ends: ['a#b', '#', ''],
  }).flat();
  const places = ['/farms/X/status', '/farms/X', '/X/farms', '/farms/shop/X', '/farms/shop/services/X/backends'];

  it('is refused in every spelling and at every place, also under the paths of existing clients', async () => {
    const { ask, expectDenied } = await given({ now: minutePerLook() });
    let count = 0;

    for (const base of ['/appliances/lb-1', '/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi']) {
      for (const place of places) {
        for (const spelling of spellings) {
          const target = base + place.replace('X', () => spelling);

          const answer = await ask('GET', target);

          expectProblem(answer, 400, 'unsafe_path', target);
          count += 1;
        }
      }
    }

    await expectDenied(Array.from({ length: count }, () => 'unsafe_path'));
    console.log(`${count} spellings of paths refused`);
  });

  it('is not accepted as the name of an appliance', async () => {
    const { ask, expectDenied } = await given();

    for (const spelling of [...spellings, '..%2flb-1', 'lb-1%2f', 'lb-1%00', '%6cb-1%2f..%2flb-1']) {
      const answer = await ask('GET', `/appliances/${spelling}/farms`);

      expectProblem(answer, 404, 'unknown_appliance', spelling);
    }

    await expectDenied(Array.from({ length: spellings.length + 4 }, () => 'unknown_appliance'));
  });

  it('is refused with every verb and body', async () => {
    const { ask, expectDenied } = await given();
    const body = '{"action":"stop"}';
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];

    const put = await ask('PUT', '/appliances/lb-1/farms/..%2fshop/actions', { headers, body });
    const remove = await ask('DELETE', '/appliances/lb-1/farms/shop/', { headers: ['X-Confirm: shop'] });

    expectProblem(put, 400, 'unsafe_path', 'PUT');
    expectProblem(remove, 400, 'unsafe_path', 'DELETE');
    await expectDenied(['unsafe_path', 'unsafe_path']);
  });

  it('is refused for its length first, and the audit has its beginning', async () => {
    const { ask, audit, expectDenied } = await given();

    const answer = await ask('GET', `/appliances/lb-1/farms/${'a'.repeat(10_000)}`);

    expectProblem(answer, 414, 'path_too_long', 'long');
    await expectDenied(['path_too_long']);
    expect(String((await audit())[0]?.path)).toHaveLength(256);
  });

  it('shows no secret in the audit, not even half of one at the cut', async () => {
    const { ask, auditText, tokenOf } = await given();
    const target = '/appliances/lb-1/';

    for (const secret of [tokenOf('admin'), adminKey]) {
      for (const cut of [1, 9, secret.length - 1, secret.length])
        await ask('GET', `${target}${'a'.repeat(255 - target.length - cut)}/${secret}`);
    }

    const text = await auditText();
    expect(text.split('"denied"')).toHaveLength(9);
    expect(text).not.toContain(tokenOf('admin').slice(0, 9));
    expect(text).not.toContain(adminKey.slice(0, 9));
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
      const values = ['1', '0', 'yes', 'on', 'TRUE', 'True', 'true, true', 'true;', '"true"', 'truе', ''];
      const slips = [
        ...values.map((value) => [`${name}: ${value}`]),
        [`${name}: true`, `${name}: true`],
        [`${name}: true`, `${name}: false`],
      ];

      for (const slip of slips) {
        const headers = [...slip, 'Content-Type: application/json', `Content-Length: ${body.length}`];

        const answer = await ask('PUT', '/appliances/lb-1/farms/shop/actions', { headers, body });

        expectProblem(answer, 400, 'malformed_header', slip.join(' '));
      }

      await expectDenied(slips.map(() => 'malformed_header'));
    },
  );

  it('that is too long for the audit is refused', async () => {
    const { ask, expectDenied } = await given();

    for (const name of ['X-Reason', 'X-Confirm']) {
      const answer = await ask('GET', '/appliances/lb-1/farms', { headers: [`${name}: ${'a'.repeat(501)}`] });

      expectProblem(answer, 400, 'malformed_header', name);
    }

    await expectDenied(['malformed_header', 'malformed_header']);
  });

  it.each([
    ['a carriage return', 'X-Reason: a\rX-Force: true'],
    ['a NUL', 'X-Reason: a\u0000b'],
    ['another control character', 'X-Reason: a\u0001b'],
    ['a line folded as of old', 'X-Reason: a\r\n X-Force: true'],
    ['a line without a colon', 'X-Reason'],
    ['a space before the colon', 'X-Reason : a'],
    ['an empty name', ': a'],
    ['a name with a space', 'X Reason: a'],
    ['a name with a NUL', 'X-Rea\u0000son: a'],
  ])('with %s is refused as malformed HTTP', async (_, line) => {
    const { ask, appliance, audit } = await given();

    const answer = await ask('PUT', '/appliances/lb-1/farms/shop/actions', { headers: [line] });

    expectProblem(answer, 400, 'malformed_request', line);
    expect(appliance.requests).toEqual([]);
    // The principal could not be read.
    expect(await audit()).toEqual([]);
  });

  it.each(['pw', 'auth', 'secret', 'apikey', 'passwd', 'token'])(
    'with %s= in its reason shows the secret neither in the audit, nor in the log, nor to readers of the freeze',
    async (name) => {
      const { call, auditText, logged } = await given();
      const reason = `ticket 7 ${name}=Canary-4711 now`;
      const encoded = `ticket%207%20${name}%3DCanary-4711%20now`;

      await call('PUT', '/appliances/lb-1/farms/shop/actions', {
        json: { action: 'stop' },
        headers: { 'x-reason': reason },
      });
      await call('PUT', '/freeze', { headers: { 'x-reason': encoded } });
      const state = await call('GET', '/freeze', { as: 'viewer' });
      const refused = await call('PUT', '/appliances/lb-1/farms/shop/actions', { json: { action: 'start' } });

      expect(state.json?.reason).toBe(`ticket 7 ${name}=[redacted] now`);
      expect(refused.text).toContain(`${name}=[redacted] now`);
      for (const text of [state.text, refused.text, await auditText(), logged.join('')])
        expect(text).not.toContain('Canary');
    },
  );

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

    const answer = await call('PUT', '/appliances/lb-1/farms/shop/actions', {
      json: { action: 'stop' },
      headers: { 'x-reason': reason },
    });

    expect(answer.status).toBe(200);
    expect((await audit()).map((line) => line.reason)).toEqual([
      decodeURIComponent(reason),
      decodeURIComponent(reason),
    ]);
    // Start, intent, outcome, and nothing after the last line break.
    expect((await auditText()).split('\n')).toHaveLength(4);
    expect(logged.join('')).not.toContain('"seq":1');
    expect(appliance.requests.map(({ path }) => path).filter((path) => path !== '/system/version')).toEqual([
      '/farms/shop/actions',
    ]);
  });
});

describe('a body', () => {
  const json = 'Content-Type: application/json';
  const actions = '/appliances/lb-1/farms/shop/actions';
  const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body, 'latin1')}`;

  it('of the wrong type is refused, and one with a harmless parameter is accepted', async () => {
    const { ask, appliance, audit } = await given();
    const body = '{"action":"stop"}';
    const types = [
      'text/plain',
      'text/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json-patch+json',
      'application/json, text/plain',
      'json',
      'garbage',
      '/',
      '',
    ];
    const wrong = [[], ...types.map((type) => [`Content-Type: ${type}`])];

    for (const type of wrong) {
      const answer = await ask('PUT', actions, { headers: [...type, lengthOf(body)], body });

      expectProblem(answer, 415, 'wrong_content_type', type.join(''));
    }
    expect(appliance.requests).toEqual([]);
    expect((await audit()).map(({ code }) => code)).toEqual(wrong.map(() => 'wrong_content_type'));

    // The appliance itself refuses all but the bare type, so that its 200 proves what it was sent.
    for (const type of [
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'Application/JSON',
      ' application/json ',
    ]) {
      const answer = await ask('PUT', actions, { headers: [`Content-Type: ${type}`, lengthOf(body)], body });

      expect(answer.status, type).toBe(200);
    }
  });

  it('is refused by an operation without a body, in any framing', async () => {
    const { ask, expectDenied } = await given();
    const chunked = ['Transfer-Encoding: chunked'];

    const answers = [
      await ask('GET', '/appliances/lb-1/farms', { headers: [json, lengthOf('{}')], body: '{}' }),
      await ask('GET', '/appliances/lb-1/farms', { headers: chunked, body: '2\r\n{}\r\n0\r\n\r\n' }),
      await ask('GET', '/appliances/lb-1/farms', { headers: chunked, body: '0\r\n\r\n' }),
      await ask('DELETE', '/appliances/lb-1/farms/shop', { headers: ['X-Confirm: shop', lengthOf('{}')], body: '{}' }),
      await ask('DELETE', '/appliances/lb-1/farms/shop', {
        headers: ['X-Confirm: shop', ...chunked],
        body: '0\r\n\r\n',
      }),
    ];

    for (const [index, answer] of answers.entries()) expectProblem(answer, 400, 'body_not_allowed', String(index));
    await expectDenied(answers.map(() => 'body_not_allowed'));
  });

  it('that is no JSON object is refused without repeating it', async () => {
    const { ask, expectDenied, logged } = await given();
    const bodies = [
      '{"password":"Canary-1',
      '[]',
      '[{"action":"stop"}]',
      'null',
      '0',
      'false',
      '""',
      '"stop"',
      'action=stop',
      '{} {}',
      '{"a":1,}',
      "{'action':'stop'}",
      '\u0000',
      '\u00ef\u00bb\u00bf{"action":"stop"}',
      '{"a":'.repeat(50_000),
    ];

    for (const body of bodies) {
      const answer = await ask('PUT', actions, { headers: [json, lengthOf(body)], body });

      expectProblem(answer, 400, 'malformed_body', body.slice(0, 30));
      expect(answer.body).not.toContain('Canary');
    }

    await expectDenied(bodies.map(() => 'malformed_body'));
    expect(logged.join('')).not.toContain('Canary');
  });

  it.each([
    ['twice', '{"action":"start","action":"bogus"}', '"action"'],
    ['twice with the same value', '{"action":"stop","action":"stop"}', '"action"'],
    ['in another spelling', '{"action":"start","\\u0061ction":"stop"}', '"action"'],
    ['in a nested object', '{"action":"stop","more":[{"mode":1,"mode":2}]}', '"mode"'],
    ['of many letters', `{"${'n'.repeat(5_000)}":1,"${'n'.repeat(5_000)}":2}`, '"nnnnnn'],
  ])('that has a member %s is refused with its name, and nothing arrives', async (_, body, name) => {
    const { call, expectDenied } = await given();

    const answer = await call('PUT', '/appliances/lb-1/farms/shop/actions', { body, type: 'application/json' });
    const dry = await call('PUT', '/appliances/lb-1/farms/shop/actions', {
      body,
      type: 'application/json',
      headers: { 'x-dry-run': 'true' },
    });

    for (const { json } of [answer, dry]) {
      expect(json).toMatchObject({ status: 400, code: 'malformed_body', remedy: expect.stringMatching(/once/) });
      expect(json?.detail).toContain(name);
      expect(String(json?.detail).length).toBeLessThan(300);
    }
    await expectDenied(['malformed_body', 'malformed_body']);
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
    const mebibyte = 'a'.repeat(1_048_576);
    const chunks = `100001\r\n${mebibyte}a\r\n`;

    const declared = await ask('PUT', actions, { headers: [json, 'Content-Length: 1048577'] });
    const pem = await ask('POST', '/appliances/lb-1/certificates/x.pem', {
      headers: ['Content-Type: application/x-pem-file', 'Content-Length: 99999999999'],
    });
    const upload = await ask('PUT', '/appliances/lb-1/system/backup/x', {
      headers: ['Content-Type: application/gzip', 'Content-Length: 100001'],
    });
    const withoutEnd = parsed(
      (await exchangeRaw(url, head('PUT', actions, { headers: [json, 'Transfer-Encoding: chunked'] }), chunks)).text,
    );

    for (const answer of [declared, pem, upload, withoutEnd]) {
      expectProblem(answer, 413, 'body_too_large', answer.body);
      // The next bytes on the connection would be the rest of the body.
      expect(answer.headers.connection).toBe('close');
    }
    await expectDenied(Array.from({ length: 4 }, () => 'body_too_large'));
  });

  it('that is a file needs a length, as the appliance requires', async () => {
    const { ask, expectDenied } = await given();

    const answer = await ask('PUT', '/appliances/lb-1/system/backup/x', {
      headers: ['Content-Type: application/gzip', 'Transfer-Encoding: chunked'],
      body: '2\r\nab\r\n0\r\n\r\n',
    });

    expectProblem(answer, 411, 'length_required', 'chunked');
    await expectDenied(['length_required']);
  });

  it.each([
    ['JSON', 'PUT', actions, json],
    ['a text', 'POST', '/appliances/lb-1/certificates/activation', 'Content-Type: text/plain'],
    ['PEM', 'POST', '/appliances/lb-1/certificates/x.pem', 'Content-Type: application/x-pem-file'],
  ])('that is %s and stalls is refused, and nothing is sent', async (_, method, target, type) => {
    const { ask, expectDenied } = await given({ admin: { timeoutMs: 300 } });

    const answer = await ask(method, target, { headers: [type, 'Content-Length: 100'], body: '{"action":' });

    expectProblem(answer, 408, 'body_too_slow', target);
    expect(answer.headers.connection).toBe('close');
    await expectDenied(['body_too_slow']);
  });

  it('that is a file and stalls is refused too, and nothing is sent', async () => {
    const { ask, expectDenied } = await given({ admin: { timeoutMs: 300 } });

    const answer = await ask('PUT', '/appliances/lb-1/system/backup/x', {
      headers: ['Content-Type: application/gzip', 'Content-Length: 100'],
      body: 'half',
    });

    expectProblem(answer, 408, 'body_too_slow', 'file');
    expect(answer.headers.connection).toBe('close');
    await expectDenied(['body_too_slow']);
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
  const names = [
    'token',
    'TOKEN',
    'access_token',
    'auth_token',
    'api_key',
    'apikey',
    'ZAPI_KEY',
    'zapi-key',
    'API-KEY',
    'key',
    'authorization',
    'bearer',
    'api%5Fkey',
    '%74oken',
  ];

  it('in the query is refused even with a right one in the header, and neither is logged', async () => {
    const { ask, expectDenied, auditText, logged } = await given();

    for (const name of names) {
      for (const query of [`${name}=CanaryInUrl`, `a=1&${name}=CanaryInUrl`, `${name}=CanaryInUrl&b=%zz`]) {
        const answer = await ask('GET', `/appliances/lb-1/farms?${query}`);

        expectProblem(answer, 400, 'token_in_url', query);
        expect(answer.body).not.toContain('Canary');
      }
    }

    await expectDenied(Array.from({ length: 3 * names.length }, () => 'token_in_url'));
    expect(await auditText()).not.toContain('Canary');
    expect(logged.join('')).not.toContain('Canary');
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
