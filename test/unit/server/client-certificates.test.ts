import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WebTls } from '../../../src/config/web-settings.ts';
import { type Authority, makeAuthority } from '../../support/authority.ts';
import { givenTls, givenWebAccess, outcomeOf } from '../../support/given-web-access.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import type { Identity } from '../../../simulator/certificate.ts';
import type { TlsMaterial } from '../../../simulator/tls.ts';

let authority: Authority;
let server: Identity;
let right: Identity;
let foreign: Identity;
let selfSigned: TlsMaterial;

beforeAll(() => {
  authority = makeAuthority();
  server = authority.issue();
  right = authority.issue();
  foreign = makeAuthority('somebody else').issue();
  selfSigned = makeMaterial();
});

const policy = (clientAuth: WebTls['clientAuth'], sans?: readonly string[]) => ({
  tls: givenTls(server, {
    clientAuth,
    ...(clientAuth === 'NoClientCert' ? {} : { clientCa: authority.cert }),
    ...(sans && { clientAllowedSans: sans }),
  }),
  users: new Map(),
  headers: {},
});

describe.each([
  ['NoClientCert', 'let in', 'let in', 'let in'],
  ['RequestClientCert', 'let in', 'let in', 'let in'],
  ['RequireAnyClientCert', 'cut off', 'let in', 'let in'],
  ['VerifyClientCertIfGiven', 'let in', 'cut off', 'let in'],
  ['RequireAndVerifyClientCert', 'cut off', 'cut off', 'let in'],
] as const)('client_auth_type %s', (clientAuth, withNone, withForeign, withRight) => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('accepts the same clients as Go over %s', async (version) => {
    const { ask } = await givenWebAccess(policy(clientAuth));
    const tls = { minVersion: version, maxVersion: version };

    expect(await outcomeOf(ask({ tls }))).toBe(withNone);
    expect(await outcomeOf(ask({ tls: { ...tls, ...foreign } }))).toBe(withForeign);
    expect(await outcomeOf(ask({ tls: { ...tls, key: selfSigned.key, cert: selfSigned.cert } }))).toBe(withForeign);
    expect(await outcomeOf(ask({ tls: { ...tls, ...right } }))).toBe(withRight);
  });
});

const day = 86_400_000;

describe('a refused client', () => {
  it.each([
    ['has expired', { notAfter: new Date(Date.now() - day) }, 'CERT_HAS_EXPIRED'],
    ['is of tomorrow', { notBefore: new Date(Date.now() + day) }, 'CERT_NOT_YET_VALID'],
    ['is for servers alone', { usages: ['serverAuth'] }, 'INVALID_PURPOSE'],
  ] as const)('is logged and counted when its certificate %s', async (_, flaw, reason) => {
    let refused = 0;
    const { ask, logged } = await givenWebAccess(policy('RequireAndVerifyClientCert'), {
      onRefused: () => (refused += 1),
    });
    const from = 'notAfter' in flaw ? { notBefore: new Date(Date.now() - 2 * day) } : {};
    const flawed = authority.issueFlawed({ ...from, ...flaw });

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      expect(await outcomeOf(ask({ tls: { ...flawed, minVersion: version, maxVersion: version } }))).toBe('cut off');
    expect(logged.join('')).toContain(`not valid under client_ca (${reason})`);
    expect(refused).toBe(2);
  });

  it('gets no response to an early request, and is logged once with the reason', async () => {
    const asked: string[] = [];
    const { port, ask, logged } = await givenWebAccess(policy('RequireAndVerifyClientCert'), {
      handler: (request, response) => {
        asked.push(request.url ?? '');
        response.end();
      },
    });

    const received = await new Promise<number>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      let bytes = 0;
      socket.on('data', (chunk) => (bytes += chunk.length)).on('error', () => undefined);
      socket.on('close', () => resolve(bytes));
      socket.write('GET /early HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
    });
    for (let i = 0; i < 20; i += 1) await outcomeOf(ask());

    expect(received).toBe(0);
    expect(asked).toEqual([]);
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, because: 'it shows no certificate', msg: 'not let in' }),
    ]);
  });
});

describe('client_allowed_sans', () => {
  const dns = 'DNS:prometheus.test';

  it.each<[string, string[], string, string]>([
    ['a DNS name', [dns], 'prometheus.test', 'let in'],
    ['one of several', ['DNS:other.test', dns], 'prometheus.test', 'let in'],
    ['another DNS name', ['DNS:other.test'], 'prometheus.test', 'cut off'],
    ['a longer DNS name', ['DNS:a.prometheus.test'], 'prometheus.test', 'cut off'],
    ['a DNS name that holds two', ['DNS:x, DNS:prometheus.test'], 'prometheus.test', 'cut off'],
    ['a URI that holds a name', ['URI:urn:x, DNS:prometheus.test'], 'prometheus.test', 'cut off'],
    ['an IPv4 address', ['IP:192.0.2.7'], '192.0.2.7', 'let in'],
    ['an IPv6 address in another spelling', ['IP:2001:db8::7'], '2001:DB8:0::7', 'let in'],
    ['an e-mail address', ['email:me@prometheus.test'], 'me@prometheus.test', 'let in'],
    ['a URI', ['URI:spiffe://test/prometheus'], 'spiffe://test/prometheus', 'let in'],
  ])('compares %s', async (_, names, allowed, outcome) => {
    const { ask } = await givenWebAccess(policy('RequireAndVerifyClientCert', ['unused.test', allowed]));
    const client = authority.issue(...names);

    expect(await outcomeOf(ask({ tls: { ...client } }))).toBe(outcome);
  });

  it('applies to an unverified certificate too', async () => {
    const { ask } = await givenWebAccess(policy('RequireAnyClientCert', ['client.test']));

    expect(await outcomeOf(ask({ tls: { ...foreign } }))).toBe('let in');
    expect(await outcomeOf(ask({ tls: { key: selfSigned.key, cert: selfSigned.cert } }))).toBe('cut off');
  });
});
