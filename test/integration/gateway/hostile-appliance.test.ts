import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { adminKey, type GatewayAnswer, type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer, startTlsServer } from '../../support/tls-server.ts';
import { until, untilIs } from '../../support/until.ts';
import { targetOf } from './given-target.ts';

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
  const gateway = await givenGateway({}, { target: targetOf(server), ...options });
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

it.each([
  ['from the beginning', ''],
  ['after a good beginning', `${(70_000).toString(16)}\r\n${' '.repeat(70_000)}\r\n`],
])('an appliance that sends chunks of one byte %s is cut off, long before the byte limit', async (_, beginning) => {
  const { call, audit, server } = await given((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(beginning);
    const more = (): void => {
      while (socket.writable && socket.write('1\r\n \r\n'.repeat(1_000)));
    };
    socket.on('drain', more);
    more();
  });

  const answer = await call(...read);

  expect(answer).toMatchObject({ status: 502, json: { code: 'upstream_malformed' } });
  expect(answer.json?.detail).toContain('in more than 256 parts with less than 256 bytes each');
  await untilIs(() => server.open, 0);
  expect(await audit()).toEqual([]);
});

it('an appliance that redirects is not followed, for reads and changes', async () => {
  const elsewhere = await startHttpsServer((response) => response.end('caught'));
  const { href } = elsewhere.url;
  let status = 0;
  const { call, audit } = await given((socket) => {
    socket.write(
      `HTTP/1.1 ${status} Elsewhere\r\nLocation: ${href}\r\nRefresh: 0; url=${href}\r\nContent-Length: 0\r\n\r\n`,
    );
  });

  for (status of [300, 301, 302, 303, 304, 305, 307, 308, 399]) {
    for (const answer of [await call(...read), await call(...write)]) {
      expect(answer.json, String(status)).toMatchObject({
        status: 502,
        code: 'upstream_redirect',
        remedy: expect.stringMatching(/url/),
      });
      expect(answer.headers).not.toHaveProperty('location');
      expect(answer.text).not.toContain(elsewhere.url.port);
    }
  }

  expect(elsewhere.accepted).toBe(0);
  expect((await audit()).slice(0, 2)).toMatchObject([
    { event: 'intent' },
    { event: 'outcome', code: 'upstream_redirect' },
  ]);
});

describe('a response with a forbidden status', () => {
  it.each(['099', '600', '999'])('is not relayed for %s, and its slot is released', async (status) => {
    const { call, audit } = await given((socket) =>
      socket.write(`HTTP/1.1 ${status} Odd\r\nContent-Length: 2\r\n\r\n{}`),
    );

    const answers = [await call(...write)];
    for (let times = 0; times < 20; times += 1) answers.push(await call(...read));

    for (const answer of answers)
      expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    expect((await audit()).map(({ event }) => event)).toEqual(['intent', 'outcome']);
  });

  it('opens no tunnel for 101', async () => {
    const { call, server } = await given((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw'),
    );

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    await untilIs(() => server.open, 0);
  });

  it('has no body for 204, whatever length it declares, and the next response is read correctly', async () => {
    const { call } = await given((socket) => socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'));

    const answers = [await call(...read), await call(...read)];

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
  });
});

describe('a response with hostile headers', () => {
  it('cannot set cookies, permissions or policies for the caller', async () => {
    const { call } = await given((socket) =>
      socket.write(
        head(
          'Set-Cookie: CGISESSID=1',
          'Access-Control-Allow-Origin: *',
          'Content-Security-Policy: default-src *',
          'X-Content-Type-Options: sniff',
          'X-Request-Id: theirs',
          'Cache-Control: public, max-age=99999',
          'WWW-Authenticate: Basic realm="give me your token"',
          'Location: https://evil.example',
          'Connection: X-Request-Id, Cache-Control',
        ),
      ),
    );

    const answer = await call(...read);

    expect([answer.status, answer.text]).toEqual([200, '{}']);
    expectOnlyOurHeaders(answer, 'hostile');
  });

  it('ends the call when the headers are too long', async () => {
    const { call, server } = await given((socket) => socket.write(head(`X: ${'a'.repeat(5_000_000)}`)));

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ status: 502, code: 'upstream_malformed' });
    await untilIs(() => server.open, 0);
  });

  it.each(['Content-Disposition', 'Content-Type', 'Content-Encoding'])(
    'cannot inject a header line by %s',
    async (name) => {
      let value = '';
      const { call } = await given((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${name}: ${value}\r\nContent-Length: 2\r\n\r\n{}`, 'latin1'),
      );

      for (value of ['a\rX-Evil: 1', 'a\nX-Evil: 1', 'a\u0000X-Evil: 1', 'a\u0001b', '\u00ff\u00fe']) {
        const answer = await call(...read);

        expect([200, 502], value).toContain(answer.status);
        expectOnlyOurHeaders(answer, value);
        expect(String(answer.headers[name.toLowerCase()] ?? ''), value).not.toMatch(/[\r\n\0\u0001\u007f]/);
      }
    },
  );
});

describe('a response with a false length', () => {
  it.each([
    ['a length that is too long', 'Content-Length: 1000000', '{"half":'],
    ['chunks without an end', 'Transfer-Encoding: chunked', '8\r\n{"half":\r\n'],
    ['malformed chunks', 'Transfer-Encoding: chunked', '8\r\n{"half":\r\nzz\r\n'],
  ])('is detected before the caller gets part of it: %s', async (_, framing, body) => {
    const { call, audit } = await given((socket) => socket.end(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}`));

    const answer = await call(...write);

    expect(answer.json).toMatchObject({ status: 502, code: expect.stringMatching(/^upstream_/) });
    expect((await audit())[1]).toMatchObject({ event: 'outcome', status: 502, uncertain: true });
  });

  it('cannot answer the next call with its excess bytes', async () => {
    const word = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"${text}"`;
    const answers = [head() + word('evil'), word('next')];
    const { call } = await given((socket) => socket.write(answers.shift() ?? ''));

    const first = await call(...read).catch((error: unknown) => error);
    const second = await call(...read);

    expect(JSON.stringify(first)).not.toContain('evil');
    expect([second.status, second.text]).toEqual([200, '"next"']);
  });
});

describe('an appliance that sends too much', () => {
  it('is cut off at the limit, and its connection is closed', async () => {
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
    await untilIs(() => server.open, 0);
    expect(sent).toBeLessThan(50 * mebibyte);
  });

  it('cannot delay a caller with endless interim responses', async () => {
    const { call, server } = await given(
      (socket) => {
        const flood = (): void => {
          if (!socket.destroyed)
            socket.write(`HTTP/1.1 103 Wait\r\nLink: <x>\r\n\r\n`.repeat(100), () => setImmediate(flood));
        };
        flood();
      },
      { admin: { timeoutMs: 500 } },
    );

    const answer = await call(...read);

    expect(answer.json).toMatchObject({ code: expect.stringMatching(/^upstream_/) });
    await untilIs(() => server.open, 0);
  });
});

describe('an appliance that repeats its API key', () => {
  it('gets it redacted in a dry run', async () => {
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

  it.each([
    [
      'an error of the API',
      'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json',
      `{"message":"${adminKey}","error":"true"}`,
    ],
    ['a redirect', `HTTP/1.1 302 Found\r\nLocation: https://evil.example/?${adminKey}`, adminKey],
    [
      'its headers',
      `HTTP/1.1 200 OK\r\nContent-Type: text/${adminKey}\r\nContent-Disposition: attachment; filename="${adminKey}"\r\nX-Key: ${adminKey}`,
      '{}',
    ],
    ['a response that is not HTTP', adminKey, adminKey],
    ['a length that is not a number', `HTTP/1.1 200 OK\r\nContent-Length: ${adminKey}`, adminKey],
  ])('gets it redacted for the caller, the log, the audit and the metrics in %s', async (_, start, body) => {
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

it('an appliance that stalls in a long response is disconnected', async () => {
  const { call, server, audit } = await given(
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(200_000)}`),
    { admin: { timeoutMs: 2_000 } },
  );

  const { json } = await call(...write);

  await untilIs(() => server.open, 0);
  const [, outcome] = await until(audit, (lines) => lines.length === 2);
  expect(json).toMatchObject({ code: expect.stringMatching(/^upstream_/) });
  expect(outcome).toMatchObject({ event: 'outcome', status: 200, code: json?.code });
});
