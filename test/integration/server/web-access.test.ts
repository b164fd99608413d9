import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WebSettings } from '../../../src/config/web-settings.ts';
import { restartReason } from '../../../src/server/web-policy.ts';
import { type Authority, makeAuthority } from '../../support/authority.ts';
import { givenTls, givenUsers, givenWebAccess, outcomeOf } from '../../support/given-web-access.ts';
import { isThere } from '../../support/programs.ts';
import { exchangeRaw, renegotiation } from '../../support/raw-exchange.ts';
import { until, untilIs } from '../../support/until.ts';
import { loadWebText } from '../../unit/config/given-web-config.ts';
import { createCertificate, type Identity } from '../../../simulator/certificate.ts';

let authority: Authority;
let server: Identity;

beforeAll(() => {
  authority = makeAuthority();
  server = authority.issue();
});

const openToAll: WebSettings = { users: new Map(), headers: {} };
const encrypted = (tls: Partial<WebSettings['tls']> = {}): WebSettings => ({
  ...openToAll,
  tls: givenTls(server, tls),
});

describe('TLS versions and ciphers', () => {
  it.each([
    ['TLSv1.2', 'TLSv1.3', 'TLSv1.1', 'cut off'],
    ['TLSv1.3', 'TLSv1.3', 'TLSv1.2', 'cut off'],
    ['TLSv1.2', 'TLSv1.2', 'TLSv1.3', 'cut off'],
  ] as const)(
    'are enforced: with %s to %s, a client with %s is %s',
    async (minVersion, maxVersion, version, outcome) => {
      const { ask } = await givenWebAccess(encrypted({ minVersion, maxVersion }));
      const tls = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' };

      expect(await outcomeOf(ask({ tls }))).toBe(outcome);
    },
  );

  it('may be old ones when the configuration says so', async () => {
    const files = { 'server.crt': server.cert, 'server.key': server.key };
    const settings = await loadWebText(
      'tls_server_config: { cert_file: server.crt, key_file: server.key, min_version: TLS10 }\n',
      { files },
    );
    const { ask } = await givenWebAccess(settings);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;

    expect(await outcomeOf(ask({ tls: old }))).toBe('let in');
    expect(await outcomeOf(ask())).toBe('let in');
  });
});

it('a certificate with an empty subject is served, and so is its renewal', async () => {
  const dates = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 6 * 86_400_000) };
  const made = () => createCertificate({ subject: {}, altNames: ['DNS:a.test'], ...dates });
  const policyOf = ({ cert, key }: Identity) =>
    loadWebText('tls_server_config: { cert_file: server.crt, key_file: server.key }\n', {
      files: { 'server.crt': cert, 'server.key': key },
    });
  const [first, renewed] = [made(), made()];
  const { access, ask } = await givenWebAccess(await policyOf(first));
  const trusting = (ca: Identity) => ask({ tls: { ca: ca.cert, servername: 'a.test', rejectUnauthorized: true } });

  const before = await outcomeOf(trusting(first));
  access.prepare(await policyOf(renewed)).commit();

  expect([before, await outcomeOf(trusting(renewed))]).toEqual(['let in', 'let in']);
});

it('a renegotiation on a connection is refused, also after a new certificate', async () => {
  const { access, url } = await givenWebAccess(encrypted());
  const before = await renegotiation(url);
  access.prepare({ ...openToAll, tls: givenTls(authority.issue()) }).commit();

  expect([before, await renegotiation(url)]).toEqual(['refused', 'refused']);
});

describe('a handshake that fails', () => {
  it('is logged with its reason', async () => {
    const { port, ask, logged } = await givenWebAccess(encrypted());

    await outcomeOf(ask({ tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } }));
    await exchangeRaw(`http://127.0.0.1:${port}`, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    const reasons = await until(
      () => logged.map((line) => JSON.parse(line).because),
      (lines) => lines.length > 1,
    );

    expect(reasons).toEqual([
      'the TLS handshake failed (ERR_SSL_UNSUPPORTED_PROTOCOL)',
      'the TLS handshake failed (ERR_SSL_HTTP_REQUEST): it speaks plain HTTP, so its configuration wants TLS (of Prometheus: scheme: https)',
    ]);
  });

  it.skipIf(!isThere('openssl'))('reports that the client does not trust the certificate', async () => {
    const { port, logged } = await givenWebAccess(encrypted());

    spawn('openssl', ['s_client', '-verify_return_error', '-connect', `127.0.0.1:${port}`], { stdio: 'ignore' });
    await until(
      () => logged.length,
      (count) => count > 0,
    );

    expect(logged.join('')).toMatch(/ALERT_UNKNOWN_CA\): it does not trust the certificate of this listener/);
  });
});

it('headers of the policy are on every response, except those that a response sets itself', async () => {
  const headers = { 'X-Frame-Options': 'deny', 'Content-Security-Policy': "default-src 'self'" };
  const { ask } = await givenWebAccess(
    { ...openToAll, headers },
    {
      handler: (_, response) => void response.writeHead(200, { 'content-security-policy': "default-src 'none'" }).end(),
    },
  );

  expect((await ask()).headers).toMatchObject({
    'x-frame-options': 'deny',
    'content-security-policy': "default-src 'none'",
  });
});

it('a rate limit permits a burst, then answers 429 to everybody', async () => {
  const { ask } = await givenWebAccess({ ...openToAll, rateLimit: { intervalMs: 3_600_000, burst: 3 } });

  const outcomes: (string | number)[] = [];
  for (let i = 0; i < 5; i += 1) outcomes.push(await outcomeOf(ask()));

  expect(outcomes).toEqual(['let in', 'let in', 'let in', 429, 429]);
});

describe('a new policy while the listener is open', () => {
  it('shows a new certificate to new connections and keeps the others', async () => {
    const { access, port, ask } = await givenWebAccess(encrypted());
    const before = await handshake(port);
    const next = authority.issue('DNS:next.test');

    access.prepare({ ...openToAll, tls: givenTls(next) }).commit();
    const after = await handshake(port);

    expect(before.getPeerX509Certificate()?.subjectAltName).toBe('DNS:client.test');
    expect(after.getPeerX509Certificate()?.subjectAltName).toBe('DNS:next.test');
    expect(before.destroyed).toBe(false);
    expect(await outcomeOf(ask())).toBe('let in');
  });

  it('verifies clients again when it has other authorities: open connections and resumed sessions', async () => {
    const other = makeAuthority('another');
    const client = authority.issue();
    const strict = (ca: Authority) => encrypted({ clientAuth: 'RequireAndVerifyClientCert', clientCa: ca.cert });
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { access, url, ask } = await givenWebAccess(strict(authority), {
      handler(incoming, response) {
        if (incoming.url !== '/slow') return void response.end('let in');
        reached.resolve();
        void held.promise.then(() => response.end('let in'));
      },
    });
    // Keeps connections and sessions, as Prometheus does.
    const agent = new Agent({ keepAlive: true, maxCachedSessions: 10, rejectUnauthorized: false, ...client });
    onTestFinished(() => agent.destroy());
    const kept = (path: string) =>
      new Promise<string>((resolve) => {
        request(url, { agent, path }, (response) => response.resume().once('end', () => resolve('let in')))
          .once('error', () => resolve('cut off'))
          .end();
      });
    const slow = kept('/slow');
    await reached.promise;
    expect(await kept('/')).toBe('let in');

    access.prepare(strict(other)).commit();
    held.resolve();

    expect(await slow).toBe('let in');
    await untilIs(() => Object.keys(agent.freeSockets).length, 0);
    expect(await kept('/')).toBe('cut off');
    expect(await outcomeOf(ask({ tls: { ...other.issue() } }))).toBe('let in');
  });

  it('is refused in one sentence if it needs a restart', () => {
    const asking = encrypted({ clientAuth: 'RequestClientCert' });

    expect(restartReason(openToAll, encrypted())).toBe(
      'TLS cannot be turned on while the exporter listens; restart it for that',
    );
    expect(restartReason(encrypted(), openToAll)).toContain('turned off');
    expect(restartReason(encrypted(), asking)).toContain('client_auth_type cannot change from or to NoClientCert');
    expect(restartReason(asking, encrypted({ clientAuth: 'RequireAnyClientCert' }))).toBeUndefined();
    const withUsers = { ...openToAll, users: givenUsers({ a: 'b' }) };
    expect(restartReason(openToAll, withUsers)).toBeUndefined();
    expect(restartReason(withUsers, openToAll)).toContain('nobody would have to log in any more');
  });
});

describe('hostile clients', () => {
  const idleTimeoutMs = 500;

  it.each([
    ['says nothing', ''],
    ['stops in the headers', 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-Half'],
    ['stops in the body', 'POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('are cut off: one that %s', async (_, bytes) => {
    const { url } = await givenWebAccess(openToAll, {
      idleTimeoutMs,
      handler: (incoming, response) => void incoming.resume().once('end', () => response.end('read')),
    });

    expect((await exchangeRaw(url, bytes)).text).not.toContain('read');
  });

  it('are cut off before a handshake, and before a request', async () => {
    const { port } = await givenWebAccess(encrypted(), { idleTimeoutMs });
    const silent = openSocket(port);
    const polite = await handshake(port);

    await until(
      () => [silent.destroyed, polite.destroyed],
      (destroyed) => destroyed.every(Boolean),
    );
  });

  it.each([
    ['too long headers', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['a long body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1025\r\n\r\n', 413],
    ['a body of unknown length', 'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', 413],
  ])('are refused with %s', async (_, bytes, status) => {
    const { url } = await givenWebAccess(openToAll);

    expect((await exchangeRaw(url, bytes)).statuses).toEqual([status]);
  });

  it.each([
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
    ['a handshake of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('get one plain response when they send %s', async (_, bytes) => {
    const { url } = await givenWebAccess({ ...openToAll, headers: { 'X-Frame-Options': 'deny' } });

    const { text, statuses } = await exchangeRaw(url, bytes);

    expect(statuses).toEqual([400]);
    expect(text).toMatch(/\r\n\r\nThis is not a valid HTTP request\.\n$/);
    expect(text).toContain('connection: close\r\n');
    expect(text).toContain('X-Frame-Options: deny\r\n');
  });

  it('have one request in progress, and few queued', async () => {
    const gate = Promise.withResolvers<void>();
    let atOnce = 0;
    let most = 0;
    const { url } = await givenWebAccess(openToAll, {
      handler(_, response) {
        most = Math.max(most, (atOnce += 1));
        response.once('close', () => (atOnce -= 1));
        void gate.promise.then(() => response.end('let in'));
      },
    });
    const pipelined = (count: number, last = 'Connection: close\r\n') =>
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count - 1) + `GET / HTTP/1.1\r\nHost: x\r\n${last}\r\n`;

    const tooMany = await exchangeRaw(url, pipelined(17));
    gate.resolve();
    const few = await exchangeRaw(url, pipelined(16));

    expect(tooMany.statuses).toEqual([]);
    expect(few.statuses).toEqual(Array.from({ length: 16 }, () => 200));
    expect(most).toBeLessThanOrEqual(2);
  });

  it('do not block Prometheus with 600 idle connections', async () => {
    const { port, ask, server: listening } = await givenWebAccess(encrypted());
    const scrape = keepAliveClient(port);
    expect(await scrape.ask()).toContain('let in');

    const idle = Array.from({ length: 600 }, () => openSocket(port));
    await until(
      () => idle.filter(({ destroyed }) => destroyed).length,
      (count) => count >= 600 - 511,
    );
    const open = await new Promise<number>((resolve) => listening.getConnections((_, count) => resolve(count)));

    expect(open).toBeLessThanOrEqual(512);
    expect(await outcomeOf(ask())).toBe('let in');
    // Its connection has proved to be of use, and was not the one to go.
    expect(await scrape.ask()).toContain('let in');
  });

  it('do not block others by reconnecting', async () => {
    const { port, ask } = await givenWebAccess(openToAll, { idleTimeoutMs: 120_000 });
    const polite = Array.from({ length: 511 }, () => openSocket(port, '127.0.0.2'));
    const answered = await Promise.all(
      polite.map(async (socket) => {
        const answer = firstText(socket);
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        return await answer;
      }),
    );
    const newcomer = openSocket(port);
    const asked = firstText(newcomer);

    for (let i = 0; i < 50; i += 1) {
      const other = openSocket(port, '127.0.0.2');
      await new Promise<void>((resolve) => other.once('connect', resolve));
    }
    // From another address, so that all of them were accepted.
    expect(await outcomeOf(ask({ from: '127.0.0.3' }))).toBe('let in');
    newcomer.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');

    expect(answered).toHaveLength(511);
    expect(await Promise.race([asked, new Promise((resolve) => newcomer.once('close', resolve))])).toContain('let in');
  });

  it('do not block others by not reading responses', async () => {
    let asked = 0;
    const { port, ask } = await givenWebAccess(openToAll, {
      idleTimeoutMs: 120_000,
      handler(incoming, response) {
        asked += 1;
        if (incoming.url === '/metrics') response.end('let in');
      },
    });

    for (let i = 0; i < 512; i += 1) openSocket(port, '127.0.0.2').write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n');
    await untilIs(() => asked, 512);

    expect(await outcomeOf(ask({ from: '127.0.0.2' }))).toBe('cut off');
    expect(await outcomeOf(ask())).toBe('let in');
  });
});

function openSocket(port: number, from = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function handshake(port: number): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  socket.resume();
  return socket;
}

function firstText(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
}

/** One connection, used again and again. */
function keepAliveClient(port: number) {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  return {
    ask() {
      const answer = firstText(socket);
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
      return answer;
    },
  };
}
