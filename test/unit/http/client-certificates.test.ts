import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientAuth } from '../../../src/http/web-policy.ts';
import { type AlternativeName, type Authority, type Identity, makeAuthority } from '../../support/authority.ts';
import { givenTls, givenWebAccess, outcomeOf } from '../../support/given-web-access.ts';
import { makeMaterial, type Material } from '../../support/tls-server.ts';

let authority: Authority;
let server: Identity;
let right: Identity;
let foreign: Identity;
let selfSigned: Material;

beforeAll(async () => {
  authority = await makeAuthority();
  server = await authority.issue();
  right = await authority.issue();
  foreign = await (await makeAuthority('somebody else')).issue();
  selfSigned = await makeMaterial();
});

const policy = (clientAuth: ClientAuth, sans?: readonly string[]) => ({
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
] as const)('with %s', (clientAuth, withNone, withForeign, withRight) => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('clients get in as Go would have it over %s', async (version) => {
    const { ask } = await givenWebAccess(policy(clientAuth));
    const tls = { minVersion: version, maxVersion: version };

    expect(await outcomeOf(ask({ tls }))).toBe(withNone);
    expect(await outcomeOf(ask({ tls: { ...tls, ...foreign } }))).toBe(withForeign);
    expect(await outcomeOf(ask({ tls: { ...tls, key: selfSigned.key, cert: selfSigned.cert } }))).toBe(withForeign);
    expect(await outcomeOf(ask({ tls: { ...tls, ...right } }))).toBe(withRight);
  });
});

const day = 86_400_000;

describe('a client that is not let in', () => {
  it.each([
    ['has expired', { notAfterDate: new Date(Date.now() - day) }, 'CERT_HAS_EXPIRED'],
    ['is of tomorrow', { notBeforeDate: new Date(Date.now() + day) }, 'CERT_NOT_YET_VALID'],
    ['is for servers alone', { extKeyUsage: { serverAuth: true } }, 'INVALID_PURPOSE'],
  ] as const)('may be one whose certificate %s', async (_, flaw, reason) => {
    const { ask, logged } = await givenWebAccess(policy('RequireAndVerifyClientCert'));
    const from = 'notAfterDate' in flaw ? { notBeforeDate: new Date(Date.now() - 2 * day) } : {};
    const flawed = await authority.issueFlawed({ ...from, ...flaw });

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      expect(await outcomeOf(ask({ tls: { ...flawed, minVersion: version, maxVersion: version } }))).toBe('cut off');
    expect(logged.join('')).toContain(`not valid under client_ca (${reason})`);
  });

  it('gets nothing however early it asks, and is named in the log with the reason once', async () => {
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
  const dns: AlternativeName = { type: 2, value: 'prometheus.test' };

  it.each<[string, AlternativeName[], string, string]>([
    ['a DNS name', [dns], 'prometheus.test', 'let in'],
    ['one of several', [{ type: 2, value: 'other.test' }, dns], 'prometheus.test', 'let in'],
    ['another DNS name', [{ type: 2, value: 'other.test' }], 'prometheus.test', 'cut off'],
    ['a longer DNS name', [{ type: 2, value: 'a.prometheus.test' }], 'prometheus.test', 'cut off'],
    ['a DNS name that holds two', [{ type: 2, value: 'x, DNS:prometheus.test' }], 'prometheus.test', 'cut off'],
    ['a URI that holds a name', [{ type: 6, value: 'urn:x, DNS:prometheus.test' }], 'prometheus.test', 'cut off'],
    ['an IPv4 address', [{ type: 7, ip: '192.0.2.7' }], '192.0.2.7', 'let in'],
    ['an IPv6 address in another spelling', [{ type: 7, ip: '2001:db8::7' }], '2001:DB8:0::7', 'let in'],
    ['an e-mail address', [{ type: 1, value: 'me@prometheus.test' }], 'me@prometheus.test', 'let in'],
    ['a URI', [{ type: 6, value: 'spiffe://test/prometheus' }], 'spiffe://test/prometheus', 'let in'],
  ])('looks at %s', async (_, names, allowed, outcome) => {
    const { ask } = await givenWebAccess(policy('RequireAndVerifyClientCert', ['unused.test', allowed]));
    const client = await authority.issue(...names);

    expect(await outcomeOf(ask({ tls: { ...client } }))).toBe(outcome);
  });

  it('hold for a certificate that nobody verified too', async () => {
    const { ask } = await givenWebAccess(policy('RequireAnyClientCert', ['client.test']));

    expect(await outcomeOf(ask({ tls: { ...foreign } }))).toBe('let in');
    expect(await outcomeOf(ask({ tls: { key: selfSigned.key, cert: selfSigned.cert } }))).toBe('cut off');
  });
});
