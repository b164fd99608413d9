import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { adminKey, type GatewayAnswer, type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer, startTlsServer } from '../../support/tls-server.ts';
import { until } from '../../support/until.ts';

const mebibyte = 1_048_576;
const read = ['GET', '/appliances/lb-1/farms'] as const;
const write = ['POST', '/appliances/lb-1/system/backup', { json: { name: 'x1' } }] as const;

/**
 * The gateway on something that speaks TLS, and answers every request with whatever `answer`
 * writes.
 */
async function given(answer: (socket: TLSSocket, request: string) => void, options: GivenOptions = {}) {
  const requests: string[] = [];
  const server = await startTlsServer((socket) => {
    let pending = '';
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      if (!isWhole(pending)) return;
      const request = pending;
      pending = '';
      requests.push(request);
      answer(socket, request);
    });
  });
  const url = new URL('/api/v4.0/api.cgi', server.url).href;
  const target = { url, fingerprintSha256: server.material.fingerprintSha256 };
  const gateway = await givenGateway({}, { target, ...options });
  return { ...gateway, server, requests };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return end >= 0 && text.length - end - 4 >= length;
}

/** A complete answer with these header lines. */
function head(...lines: readonly string[]): string {
  return ['HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 2', ...lines, '', '{}'].join('\r\n');
}

/** Expects only the headers of the gateway itself, and the four that it passes on. */
function expectOnlyOurHeaders({ headers }: GatewayAnswer, about: string): void {
  const ours = [
    'cache-control',
    'connection',
    'content-security-policy',
    'date',
    'keep-alive',
    'referrer-policy',
    'transfer-encoding',
    'x-content-type-options',
    'x-request-id',
  ];
  const relayed = ['content-type', 'content-length', 'content-disposition', 'content-encoding'];
  expect(
    Object.keys(headers).filter((name) => ![...ours, ...relayed].includes(name)),
    about,
  ).toEqual([]);
  expect(headers, about).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
  });
}

describe('an appliance that redirects', () => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308, 399])(
    'with %i is not followed, for reads and changes',
    async (status) => {
      const elsewhere = await startHttpsServer((response) => response.end('caught'));
      const { call, audit } = await given((socket) => {
        socket.write(
          `HTTP/1.1 ${status} Elsewhere\r\nLocation: ${elsewhere.url.href}\r\nRefresh: 0; url=${elsewhere.url.href}\r\nContent-Length: 0\r\n\r\n`,
        );
      });

      const answers = [await call(...read), await call(...write)];

      for (const answer of answers) {
        expect(answer.json).toMatchObject({
          status: 502,
          code: 'upstream_redirect',
          remedy: expect.stringMatching(/url/),
        });
        expect(answer.headers).not.toHaveProperty('location');
        expect(answer.text).not.toContain(elsewhere.url.port);
      }
      expect(elsewhere.accepted).toBe(0);
      expect((await audit()).map(({ event, code }) => [event, code])).toEqual([
        ['intent', undefined],
        ['outcome', 'upstream_redirect'],
      ]);
    },
  );
});

describe('an appliance that answers with a forbidden status', () => {
  it.each(['099', '000', '600', '700', '999'])('%s is not passed on, and its slot is released', async (status) => {
    const { call, audit } = await given((socket) =>
      socket.write(`HTTP/1.1 ${status} Odd\r\nContent-Length: 2\r\n\r\n{}`),
    );

    const answers = [await call(...write)];
    for (let times = 0; times < 20; times += 1) answers.push(await call(...read));

    for (const answer of answers)
      expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    expect((await audit()).map(({ event }) => event)).toEqual(['intent', 'outcome']);
  });

  it('101 opens no tunnel', async () => {
    const { call, server } = await given((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw'),
    );

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    await until(
      () => server.open,
      (open) => open === 0,
    );
  });

  it.each([
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'],
    ['205', 'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n'],
  ])('%s has no body, and the next answer is read correctly', async (_, bytes) => {
    const { call } = await given((socket) => socket.write(bytes));

    const first = await call(...read);
    const second = await call(...read);

    expect([first.status, first.text]).toEqual([Number(bytes.slice(9, 12)), '']);
    expect([second.status, second.text]).toEqual([first.status, '']);
  });
});

describe('an appliance that answers with hostile headers', () => {
  it('does not set cookies, permissions or policies for the caller', async () => {
    const { call } = await given((socket) =>
      socket.write(
        head(
          'Set-Cookie: CGISESSID=1',
          'Access-Control-Allow-Origin: *',
          'Access-Control-Allow-Credentials: true',
          'Content-Security-Policy: default-src *',
          'X-Content-Type-Options: sniff',
          'X-Request-Id: theirs',
          'Cache-Control: public, max-age=99999',
          'Strict-Transport-Security: max-age=0',
          'Referrer-Policy: unsafe-url',
          'WWW-Authenticate: Basic realm="give me your token"',
          'Clear-Site-Data: "*"',
          'Alt-Svc: h2="evil.example:443"',
          'Link: <https://evil.example>; rel=preload',
          'Location: https://evil.example',
          'Refresh: 0; url=https://evil.example',
          'Server: Cherokee',
          'Connection: X-Request-Id, Cache-Control',
          'Trailer: X-After',
        ),
      ),
    );

    const answer = await call(...read);

    expect([answer.status, answer.text]).toEqual([200, '{}']);
    expectOnlyOurHeaders(answer, 'hostile');
  });

  it('a thousand of them are handled like one', async () => {
    const { call } = await given((socket) =>
      socket.write(head(...Array.from({ length: 1_000 }, (_, index) => `X${index}: a`))),
    );

    const answer = await call(...read);

    expect([answer.status, answer.text]).toEqual([200, '{}']);
    expectOnlyOurHeaders(answer, 'many');
  });

  it.each([
    ['a long one', () => `X: ${'a'.repeat(100_000)}`],
    ['many long ones', () => Array.from({ length: 100 }, (_, index) => `X${index}: ${'a'.repeat(1_000)}`).join('\r\n')],
    ['one without an end', () => `X: ${'a'.repeat(5_000_000)}`],
  ])('end the call when they are too long: %s', async (_, lines) => {
    const { call, server } = await given((socket) => socket.write(head(lines())));

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: 'upstream_malformed' });
    await until(
      () => server.open,
      (open) => open === 0,
    );
  });

  it('cannot inject a line into those of the gateway', async () => {
    const values = [
      'a\rX-Evil: 1',
      'a\nX-Evil: 1',
      'a\r\n X-Evil: 1',
      'a\u0000X-Evil: 1',
      'a\u0001b',
      'a\u007fb',
      'a\u000bb',
      'a\tb',
      '\u00ff\u00fe',
      'a\u0085b',
      '=?utf-8?q?=0D=0AX-Evil:_1?=',
      'a%0d%0aX-Evil: 1',
    ];
    const answers: Record<string, number> = {};

    for (const value of values) {
      for (const name of ['Content-Disposition', 'Content-Type', 'Content-Encoding']) {
        const { call, close } = await given((socket) =>
          socket.write(`HTTP/1.1 200 OK\r\n${name}: ${value}\r\nContent-Length: 2\r\n\r\n{}`, 'latin1'),
        );

        const answer = await call(...read);

        answers[answer.status] = (answers[answer.status] ?? 0) + 1;
        expect([200, 502], `${name}: ${value}`).toContain(answer.status);
        expect(answer.headers, `${name}: ${value}`).not.toHaveProperty('x-evil');
        expectOnlyOurHeaders(answer, `${name}: ${value}`);
        expect(String(answer.headers[name.toLowerCase()] ?? ''), value).not.toMatch(/[\r\n\0\u0001\u007f]/);
        await close();
      }
    }
    console.log(`${values.length * 3} headers with control characters, answered`, answers);
  });
});

describe('an appliance that lies about the length of its answer', () => {
  const cuts = [
    ['a length that is too long, and the end', 'Content-Length: 1000000', (text: string) => text],
    [
      'chunks without an end',
      'Transfer-Encoding: chunked',
      (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`,
    ],
    [
      'chunks that are none',
      'Transfer-Encoding: chunked',
      (text: string) => `${text.length.toString(16)}\r\n${text}\r\nzz\r\n`,
    ],
  ] as const;

  it.each(cuts)('is detected before the caller gets part of a short answer: %s', async (_, framing, body) => {
    const { call, audit } = await given((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body('{"half":')}`),
    );

    const answer = await call(...write);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    expect((await audit())[1]).toMatchObject({ event: 'outcome', status: 502, uncertain: true });
  });

  it.each(cuts)('gives the caller a problem instead of part of a long answer: %s', async (_, framing, body) => {
    const { call, audit } = await given((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body('x'.repeat(200_000))}`),
    );

    const answer = await call(...write);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    expect(answer.json?.detail).toContain('lb-1 answered 200');
    const lines = await until(audit, (seen) => seen.length === 2);
    expect(lines[1]).toMatchObject({ event: 'outcome', status: 200, code: answer.json?.code });
    expect(Number(lines[1]?.received_bytes)).toBeLessThanOrEqual(200_000);
  });

  it.each([
    ['a length that is too short', 'Content-Length: 2', '{}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"'],
    [
      'a second answer that nobody asked for',
      'Transfer-Encoding: chunked',
      '2\r\n{}\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"',
    ],
  ])('cannot answer the next call: %s', async (_, framing, body) => {
    let answered = 0;
    const { call } = await given((socket) => {
      answered += 1;
      socket.write(
        answered === 1
          ? `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}`
          : 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"next"',
      );
    });

    const first = await call(...read).catch((error: unknown) => error);
    const second = await call(...read);

    expect(JSON.stringify(first)).not.toContain('evil');
    expect([second.status, second.text]).toEqual([200, '"next"']);
  });

  it.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3', '{}'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
    ['a length that is none', 'Content-Length: +2', '{}'],
    ['a length below nothing', 'Content-Length: -2', '{}'],
  ])('is refused with %s', async (_, framing, body) => {
    const { call } = await given((socket) => socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}`));

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
  });
});

describe('an appliance that sends too much', () => {
  it('is cut off at the limit, and its connection ends', async () => {
    let sent = 0;
    const block = Buffer.alloc(65_536, 'x');
    const { call, server } = await given(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
        const pour = (): void => {
          while (!socket.destroyed && sent < 1_000 * mebibyte) {
            sent += block.length;
            if (!socket.write(block)) return void socket.once('drain', pour);
          }
        };
        pour();
      },
      { admin: { downloadBytes: mebibyte } },
    );

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: 'upstream_oversize' });
    await until(
      () => server.open,
      (open) => open === 0,
    );
    expect(sent).toBeLessThan(50 * mebibyte);
  });

  it('cannot expand a compressed answer, which is passed on as it is', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * mebibyte));
    const { call } = await given((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`,
      );
      socket.write(bomb);
    });
    const before = process.memoryUsage().rss;

    const answer = await call(...read);

    expect(answer.bytes).toEqual(bomb);
    expect(process.memoryUsage().rss - before).toBeLessThan(30 * mebibyte);
  });

  it.each([100, 102, 103])('cannot hold a caller with endless %i answers', async (status) => {
    const { call, server } = await given(
      (socket) => {
        const flood = (): void => {
          if (!socket.destroyed)
            socket.write(`HTTP/1.1 ${status} Wait\r\nLink: <x>\r\n\r\n`.repeat(100), () => setImmediate(flood));
        };
        flood();
      },
      { admin: { timeoutMs: 500 } },
    );

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ code: expect.stringMatching(/^upstream_/) });
    await until(
      () => server.open,
      (open) => open === 0,
    );
  });
});

describe('an appliance that repeats its API key', () => {
  const length = 1_000;
  const at = [0, 1, 499, length - adminKey.length];

  it('has it masked in its answers, for any split into chunks', async () => {
    let pieces: readonly [string, string] = ['', ''];
    const { call } = await given((socket) => {
      const [first, second] = pieces;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${first}`, () =>
        setImmediate(() => socket.write(second)),
      );
    });

    for (const position of at) {
      for (let cut = 0; cut <= adminKey.length; cut += 1) {
        const body = '.'.repeat(position) + adminKey + '.'.repeat(length - position - adminKey.length);
        pieces = [body.slice(0, position + cut), body.slice(position + cut)];

        const answer = await call(...read);

        expect(answer.text, `${position} ${cut}`).toBe(body.replace(adminKey, '*'.repeat(adminKey.length)));
        expect(answer.headers['content-length']).toBe(String(length));
      }
    }
  });

  it('has it masked in every JSON spelling, in short and long answers', async () => {
    const spelled = [
      Array.from(adminKey, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join(''),
      adminKey.replace('C', '\\u0043').replace('K', '\\u004B'),
    ];
    let body = '';
    const { call } = await given((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });

    for (const echo of spelled) {
      for (const filler of [10, 70_000]) {
        body = `{"a":"\\u0043\\/${'.'.repeat(filler)}","b":"${echo}"}`;

        const answer = await call(...read, { as: 'viewer' });

        expect(answer.text === body.replace(echo, '*'.repeat(echo.length)), `${filler} ${echo}`).toBe(true);
      }
    }
  });

  it('has it masked in a dry run', async () => {
    const echo = Array.from(adminKey, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');
    const body = `{"params":{"farmguardian":"${echo}","${echo}":1}}`;
    const { call } = await given((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });

    const answer = await call('PUT', '/appliances/lb-1/farms/shop', {
      json: { newfarmname: 'shop2' },
      headers: { 'x-dry-run': 'true' },
      as: 'admin',
    });

    expect(answer.json).toMatchObject({ dry_run: true, current: { status: 200 } });
    expect(answer.text).not.toContain(adminKey);
  });

  it('has it masked byte by byte, also twice in a row and next to a near match', async () => {
    const nearly = adminKey.slice(0, -1);
    const body = `${nearly}${adminKey}${adminKey}${nearly}${nearly}x${adminKey.slice(0, 3)}${adminKey}`;
    const { call } = await given((socket) => {
      socket.setNoDelay(true);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      const next = (index: number): void =>
        void (index < body.length && socket.write(body.charAt(index), () => setImmediate(next, index + 1)));
      next(0);
    });

    const answer = await call(...read);

    expect(answer.text).toBe(body.replaceAll(adminKey, '*'.repeat(adminKey.length)));
  });

  it.each([
    [
      'an error page',
      'HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html',
      `<h1>ZAPI_KEY: ${adminKey}</h1>`,
    ],
    [
      'an error of the API',
      'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json',
      `{"message":"${adminKey}","error":"true"}`,
    ],
    [
      'a refusal of the key',
      'HTTP/1.1 401 Authorization Required\r\nContent-Type: application/json',
      `{"message":"${adminKey}"}`,
    ],
    ['a redirect', `HTTP/1.1 302 Found\r\nLocation: https://evil.example/?${adminKey}`, adminKey],
    [
      'its headers',
      `HTTP/1.1 200 OK\r\nContent-Type: text/${adminKey}\r\nContent-Disposition: attachment; filename="${adminKey}"\r\nX-Key: ${adminKey}`,
      '{}',
    ],
    ['the words of its status', `HTTP/1.1 200 ${adminKey}\r\nContent-Type: application/json`, '{}'],
    ['what is no HTTP', adminKey, adminKey],
    ['a length that is none', `HTTP/1.1 200 OK\r\nContent-Length: ${adminKey}`, adminKey],
  ])('does not show it to the caller, the log, the audit and the metrics in %s', async (_, start, body) => {
    const { call, auditText, logged, metrics } = await given((socket) =>
      socket.end(`${start}\r\n${start.includes('Length') ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`),
    );

    const answers = [
      await call(...read),
      await call(...write),
      await call('GET', '/appliances/lb-1/parameters?operation=createFarm'),
      await call('POST', '/appliances/lb-1/farms', { json: { farmname: 'x' }, headers: { 'x-dry-run': 'true' } }),
    ];

    const seen = [
      ...answers.map(({ text, headers }) => text + JSON.stringify(headers)),
      await auditText(),
      logged.join(''),
      await metrics(),
    ];
    expect(seen.filter((text) => text.includes(adminKey))).toEqual([]);
  });
});

describe('an appliance that does not answer', () => {
  it('keeps the slot of a caller that left for twice admin.timeout, and the outcome is uncertain', async () => {
    const { url, tokenOf, server, requests, audit, call } = await given(() => undefined, { admin: { timeoutMs: 300 } });
    const socket = leavingCaller(url, tokenOf('admin'));
    await until(
      () => requests.length,
      (count) => count === 1,
    );

    socket.destroy();

    await until(
      () => server.open,
      (open) => open === 0,
    );
    const lines = await until(audit, (seen) => seen.length === 2);
    expect(lines).toEqual([
      expect.objectContaining({ event: 'intent', operation: 'createBackup' }),
      expect.objectContaining({ event: 'outcome', uncertain: true, code: 'upstream_timeout' }),
    ]);
    expect((await call('GET', '/whoami')).status).toBe(200);
  });

  it('is disconnected when the rest of a long answer does not come, with or without the caller', async () => {
    const { url, tokenOf, server, requests, audit } = await given(
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(200_000)}`),
      { admin: { timeoutMs: 300 } },
    );
    const socket = leavingCaller(url, tokenOf('admin'));
    await until(
      () => requests.length,
      (count) => count === 1,
    );

    socket.destroy();

    await until(
      () => server.open,
      (open) => open === 0,
    );
    const lines = await until(audit, (seen) => seen.length === 2);
    expect(requests).toHaveLength(1);
    expect(lines[1]).toMatchObject({ event: 'outcome', status: 200, code: expect.stringMatching(/^upstream_/) });
  });

  it('releases the slots of callers that left at any moment', async () => {
    const answer = (socket: TLSSocket, requests: readonly string[]): void => {
      // A short answer, the beginning of a long one, the beginning of a short one, and none.
      if (requests.length % 4 === 1) socket.write(head());
      if (requests.length % 4 === 2)
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(100_000)}`);
      if (requests.length % 4 === 3) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{}');
    };
    const { url, tokenOf, requests, audit, call, server } = await given((socket) => answer(socket, requests), {
      admin: { timeoutMs: 200 },
    });

    // More than may wait for one appliance; some leave before, some while and some after they were
    // sent on.
    for (let round = 0; round < 24; round += 1) {
      const socket = leavingCaller(url, tokenOf('admin'));
      const wanted = requests.length + (round % 5 === 0 ? 0 : 1);
      await until(
        () => requests.length,
        (count) => count >= wanted,
      );
      if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      await until(
        () => server.open,
        (open) => open <= 2,
      );
    }
    const lines = await until(
      audit,
      (seen) =>
        seen.filter(({ event }) => event === 'intent').length ===
        seen.filter(({ event }) => event === 'outcome').length,
    );
    while (requests.length % 4 !== 0) requests.push('');
    const after = await call(...read);

    expect(after.status).toBe(200);
    expect(lines.length).toBeGreaterThan(30);
  });

  it('is reported as a time-out, and a change as uncertain', async () => {
    const { call, audit } = await given(() => undefined, { admin: { timeoutMs: 300 } });

    const answers = [await call(...read), await call(...write)];

    for (const answer of answers) expect(answer.json).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(answers[1]?.json?.remedy).toMatch(/read the object before/);
    const [, outcome] = await until(audit, (lines) => lines.length === 2);
    expect(outcome).toMatchObject({
      event: 'outcome',
      code: 'upstream_timeout',
      status: 504,
      uncertain: true,
    });
  });

  it('gets no ninth waiting call of one caller, while other callers and changes pass', async () => {
    const held: TLSSocket[] = [];
    let holds = true;
    const { call, requests } = await given((socket) => {
      if (holds) held.push(socket);
      else socket.write(head());
    });

    const waiting = Array.from({ length: 10 }, () => call(...read));
    await until(
      () => requests.length,
      (count) => count === 2,
    );
    const turnedAway = await call(...read);
    const another = call(read[0], read[1], { as: 'operator' });
    holds = false;
    const change = await call(...write);
    for (const socket of held) socket.write(head());
    const answers = await Promise.all([...waiting, another]);
    const after = await call(...read);

    expect(turnedAway.json).toMatchObject({ status: 503, code: 'busy' });
    expect(Number(turnedAway.headers['retry-after'])).toBeGreaterThan(0);
    expect(change.status).toBe(200);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(after.status).toBe(200);
  });
});

/** A client on a connection of its own, with a change under way. */
function leavingCaller(url: string, token: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  const body = JSON.stringify(write[2].json);
  socket.write(
    `${write[0]} ${write[1]} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}
