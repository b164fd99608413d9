import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, assert, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CertificateParts, createCertificate, type Identity } from '../../simulator/certificate.ts';
import { chainEndOf, type ProbeResult, probeVip } from '../../src/collectors/vip-probe.ts';
import { freePort } from '../support/free-port.ts';
import { issue } from '../support/issue.ts';
import { until, untilIs } from '../support/until.ts';
import { givenTls, listening, times } from './given-vip.ts';

const address = '127.0.0.1';
const never = new AbortController().signal;

afterEach(() => vi.useRealTimers());

/** A server that does what `behave` does with each connection. */
const givenServer = (behave: (socket: Socket) => void) => listening(createServer(behave));

const probe = (port: number, serverName: string | undefined = 'shop.test'): Promise<ProbeResult> =>
  probeVip({ address, port, serverName, withinMs: 60_000 }, never);

/**
 * Probes a server that never comes to an end, and lets the five seconds pass once `server` has the
 * connection.
 */
async function probeInVain(server: Server, serverName: string | undefined = 'shop.test'): Promise<ProbeResult> {
  const { port } = await listening(server);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const connected = once(server, 'connection');
  const result = probeVip({ address, port, serverName }, never);
  const [socket] = (await connected) as [Socket];
  if (serverName !== undefined) await once(socket, 'data');
  vi.advanceTimersByTime(5_000);
  return await result;
}

describe('a probe by TCP', () => {
  it('measures the time to connect, and sends nothing', async () => {
    const received: Buffer[] = [];
    const ended = Promise.withResolvers<void>();
    const { port } = await givenServer((socket) => {
      socket.on('data', (data) => received.push(data)).on('close', () => ended.resolve());
    });

    const result = await probeVip({ address, port, serverName: undefined }, never);

    await ended.promise;
    expect(result).toEqual({ isReachable: true, connectSeconds: expect.any(Number) });
    expect(received).toEqual([]);
  });

  it('reports refused when nothing listens', async () => {
    const port = await freePort();

    expect(await probe(port, undefined)).toEqual({ isReachable: false, failure: 'refused' });
    expect(await probe(port)).toEqual({ isReachable: false, failure: 'refused' });
  });

  it('reports timeout if there is no connection after five seconds', async () => {
    const { port } = await givenServer(() => undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

    const result = probeVip({ address, port, serverName: undefined }, never);
    // The event loop has not run since: no connection can have been seen.
    vi.advanceTimersByTime(5_000);

    expect(await result).toEqual({ isReachable: false, failure: 'timeout' });
  });

  it('rejects without delay when the exporter stops', async () => {
    const server = createServer();
    const { port } = await listening(server);
    const stopping = new AbortController();
    const result = probeVip({ address, port, serverName: 'shop.test' }, stopping.signal);
    await once(server, 'connection');

    stopping.abort();

    await expect(result).rejects.toThrow('aborted');
    await expect(probeVip({ address, port, serverName: undefined }, stopping.signal)).rejects.toThrow('aborted');
  });
});

describe('a probe by TLS', () => {
  it('describes the certificate that is served', async () => {
    const { port } = await givenTls({ serial: 0x1a2bn });

    expect(await probe(port)).toEqual({
      isReachable: true,
      connectSeconds: expect.any(Number),
      certificate: {
        commonName: 'shop.test',
        issuer: 'shop.test',
        serial: '1a2b',
        fingerprintSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        notBeforeSeconds: times.notBefore / 1_000,
        notAfterSeconds: times.notAfter / 1_000,
        coversName: true,
        intermediates: [],
      },
    });
  });

  it('follows the chain as served, without the root and unrelated certificates', async () => {
    const { leaf, lower, upper, root, stranger } = givenAuthorities();
    const cert = [leaf, stranger, upper, lower, root].map((each) => each.cert).join('\n');
    const { port } = await listening(createTlsServer({ key: leaf.key, cert }));

    const { certificate } = await probe(port);

    assert(certificate);
    expect(certificate.intermediates).toMatchObject([
      { commonName: 'lower', issuer: 'upper', notAfterSeconds: Date.UTC(2026, 5, 1) / 1_000 },
      { commonName: 'upper', issuer: 'root', notAfterSeconds: Date.UTC(2028, 5, 1) / 1_000 },
    ]);
    expect(chainEndOf(certificate)).toBe(Date.UTC(2026, 5, 1) / 1_000);
  });

  it('takes the valid one of two copies of an intermediate, in any order, as deliver does', async () => {
    const dayMs = 86_400_000;
    const within = (from: number, until: number) => ({
      notBefore: new Date(Date.now() + from * dayMs),
      notAfter: new Date(Date.now() + until * dayMs),
    });
    const authority = { subject: { CN: 'inter' }, isAuthority: true, issuer: issue() };
    const valid = createCertificate({ ...authority, ...within(-100, 60) });
    const ended = createCertificate({ ...authority, ...within(-100, -10), key: createPrivateKey(valid.key) });
    const leaf = createCertificate({
      subject: { CN: 'shop.test' },
      altNames: ['DNS:shop.test'],
      issuer: valid,
      ...within(-1, 80),
    });
    const ends: number[] = [];
    for (const chain of [[ended, valid], [valid, ended], [ended]]) {
      const cert = [leaf, ...chain].map((each) => each.cert).join('');
      const { port } = await listening(createTlsServer({ key: leaf.key, cert }));
      const { certificate } = await probe(port);
      ends.push(((certificate && chainEndOf(certificate)) ?? 0) - Date.now() / 1_000);
    }

    expect(ends.map((seconds) => Math.round(seconds / 86_400))).toEqual([60, 60, -10]);
  });

  it.each([
    ['ends later', 2030, []],
    ['ends sooner', 2024, ['cross']],
  ])('ignores a cross-signed root if its own trust anchor %s', async (_, year, counted) => {
    const { leaf, root, cross } = givenCrossSigned(year);
    const { port } = await listening(createTlsServer({ key: leaf.key, cert: leaf.cert + cross.cert }));
    const alone = await probe(port);
    givenTrust(root.cert);

    const trusted = await probe(port);

    expect(alone.certificate?.intermediates).toMatchObject([{ commonName: 'cross' }]);
    expect(trusted.certificate?.intermediates.map(({ commonName }) => commonName)).toEqual(counted);
  });

  it('counts an expired intermediate below a cross-signed root', async () => {
    const { root, cross, lower, below } = givenCrossSigned(2030);
    const { port } = await listening(createTlsServer({ key: below.key, cert: below.cert + lower.cert + cross.cert }));
    givenTrust(root.cert);

    const { certificate } = await probe(port);

    assert(certificate);
    expect(certificate.intermediates).toMatchObject([{ commonName: 'lower' }]);
    expect(chainEndOf(certificate)).toBe(Date.UTC(2026, 5, 1) / 1_000);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'reads the certificate of a server that demands a client certificate by %s',
    async (version) => {
      const { leaf, lower } = givenAuthorities();
      const { key } = leaf;
      const cert = leaf.cert + lower.cert;
      const ca = lower.cert;
      const server = createTlsServer({ key, cert, ca, requestCert: true, minVersion: version, maxVersion: version });
      const { port } = await listening(server.on('tlsClientError', () => undefined));

      const { isReachable, failure, certificate } = await probe(port);

      expect({ isReachable, failure }).toEqual({
        isReachable: true,
        failure: version === 'TLSv1.2' ? 'tls' : undefined,
      });
      expect(certificate).toMatchObject({ commonName: 'shop.test', coversName: true });
      expect(certificate?.intermediates).toMatchObject([{ commonName: 'lower' }]);
    },
  );

  it('follows at most eight of 150 certificates that claim to have issued each other', async () => {
    const { leaf, lower, upper } = givenAuthorities();
    const again = createCertificate({
      subject: upper.subject,
      key: createPrivateKey(upper.key),
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2028-01-01T00:00:00Z'),
      isAuthority: true,
      issuer: lower,
    });
    const cert = [leaf, ...Array.from({ length: 75 }, () => [lower, again]).flat()].map((each) => each.cert).join('\n');
    const { port } = await listening(createTlsServer({ key: leaf.key, cert }));

    expect((await probe(port)).certificate?.intermediates).toHaveLength(8);
  });

  it('sends the server name, and none if there is none', async () => {
    const asked: unknown[] = [];
    const { key, cert } = givenAuthorities().stranger;
    const server = createTlsServer({ key, cert }, (socket) => asked.push(socket.servername));
    const { port } = await listening(server);

    const named = await probe(port);
    await untilIs(() => asked.length, 1);
    const unnamed = await probe(port, '');
    await untilIs(() => asked.length, 2);

    expect(asked).toEqual(['shop.test', false]);
    expect([named, unnamed].map(({ certificate }) => certificate?.coversName)).toEqual([false, undefined]);
  });

  it.each([
    [['DNS:*.shop.test'], 'www.shop.test', true],
    [['DNS:*.shop.test'], 'shop.test', false],
    [['DNS:other.test', 'DNS:shop.test'], 'shop.test', true],
    [['DNS:other.test'], 'shop.test', false],
    // Clients ignore the common name.
    [[], 'shop.test', false],
  ])('compares the alternative names %j with %s', async (altNames, serverName, isCovered) => {
    const { port } = await givenTls({ altNames });

    expect((await probe(port, serverName)).certificate?.coversName).toBe(isCovered);
  });

  it.each([
    ['a negative serial', { serial: -5n }, { serial: '-05' }],
    ['the year 1950', { notBefore: new Date('1950-01-01T00:00:00Z') }, { notBeforeSeconds: -631_152_000 }],
    ['the year 9999', { notAfter: new Date('9999-12-31T23:59:59Z') }, { notAfterSeconds: 253_402_300_799 }],
    ['an end before its beginning', { notAfter: new Date('1970-01-01T00:00:00Z') }, { notAfterSeconds: 0 }],
    ['a name on two lines', { subject: { CN: 'a\nCN=b' } }, { commonName: 'a\\0ACN=b' }],
    ['a name with a comma', { subject: { CN: 'Shop, the' } }, { commonName: 'Shop, the' }],
    ['a name of 50,000 letters', { subject: { CN: 'x'.repeat(50_000) } }, { commonName: 'x'.repeat(256) }],
    ['5,000 alternative names', { altNames: manyNames(5_000) }, { coversName: true }],
  ] as [string, Partial<CertificateParts>, object][])('parses a certificate with %s', async (_, parts, expected) => {
    const { port } = await givenTls(parts);

    expect(await probe(port)).toMatchObject({ isReachable: true, certificate: expected });
  });

  it('reports tls for a certificate of one megabyte', async () => {
    const { port } = await givenTls({
      altNames: [1, 2, 3, 4].map((letter) => `DNS:${String(letter).repeat(250_000)}`),
    });

    expect(await probe(port)).toEqual({ isReachable: true, connectSeconds: expect.any(Number), failure: 'tls' });
  });

  it.each([
    ['answers with an alert', (socket: Socket) => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 112]))],
    ['speaks HTTP', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes at once', (socket: Socket) => socket.end()],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['answers with a megabyte of anything', (socket: Socket) => socket.end(Buffer.alloc(1_000_000, 0x16))],
  ])('reports tls for a server that %s', async (_, answer) => {
    const { port } = await givenServer((socket) => void socket.once('data', () => answer(socket)));

    expect(await probe(port)).toEqual({ isReachable: true, connectSeconds: expect.any(Number), failure: 'tls' });
  });

  it('reports timeout for a server that never responds', async () => {
    expect(await probeInVain(createServer())).toEqual({
      isReachable: true,
      connectSeconds: expect.any(Number),
      failure: 'timeout',
    });
  });

  it('reports timeout for a handshake that never ends', async () => {
    // The header of a record of 16 kB, and then a byte now and then.
    const server = createServer((socket) => {
      socket.write(Buffer.from([0x16, 3, 3, 0x40, 0]));
      socket.on('drain', () => socket.write(Buffer.from([2])));
    });

    expect(await probeInVain(server)).toMatchObject({ isReachable: true, failure: 'timeout' });
  });

  it('leaves no connection behind', async () => {
    const server = createServer((socket) => void socket.once('data', () => socket.write(Buffer.from([0x15, 3]))));
    await probeInVain(server);

    vi.useRealTimers();
    const count = (): Promise<number> =>
      new Promise((resolve) => void server.getConnections((_, connections) => resolve(connections)));
    await until(count, (connections) => connections === 0);
  });
});

/** A certificate and its two intermediates, of which the lower one ends before it. */
function givenAuthorities() {
  const notBefore = new Date('2026-01-01T00:00:00Z');
  const authority = (name: string, year: number, issuer?: Identity): Identity =>
    createCertificate({
      subject: { CN: name },
      notBefore,
      notAfter: new Date(Date.UTC(year, 5, 1)),
      isAuthority: true,
      ...(issuer && { issuer }),
    });
  const root = authority('root', 2025);
  const upper = authority('upper', 2028, root);
  const lower = authority('lower', 2026, upper);
  const leaf = createCertificate({
    subject: { CN: 'shop.test' },
    notBefore,
    notAfter: new Date('2026-12-31T23:59:59Z'),
    altNames: ['DNS:shop.test'],
    issuer: lower,
  });
  return { leaf, lower, upper, root, stranger: authority('stranger', 2025) };
}

/** Lets this machine trust an authority until the end of the test. */
function givenTrust(cert: string): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  onTestFinished(() => setDefaultCACertificates(before));
}

/** A root that ends in a year, and the same key signed by another root, which ended in 2025. */
function givenCrossSigned(year: number) {
  const notBefore = new Date('2020-01-01T00:00:00Z');
  const issue = (name: string, end: number, parts: Partial<CertificateParts> = {}): Identity =>
    createCertificate({
      subject: { CN: name },
      notBefore,
      notAfter: new Date(Date.UTC(end, 5, 1)),
      isAuthority: name !== 'shop.test',
      ...parts,
    });
  const older = issue('older', 2025);
  const root = issue('cross', year);
  const cross = issue('cross', 2025, { key: createPrivateKey(root.key), issuer: older });
  const lower = issue('lower', 2026, { issuer: root });
  return {
    root,
    cross,
    lower,
    leaf: issue('shop.test', 2027, { issuer: root }),
    below: issue('shop.test', 2027, { issuer: lower }),
  };
}

/** Short ones: a server may send 100 kB of certificates. */
function manyNames(count: number): readonly string[] {
  return ['DNS:shop.test', ...Array.from({ length: count - 1 }, (_, index) => `DNS:${index.toString(36)}.t`)];
}
