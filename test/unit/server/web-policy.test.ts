import { expect, it } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';
import type { WebSettings, WebTls } from '../../../src/config/web-settings.ts';
import { requiresReauthentication } from '../../../src/server/web-policy.ts';

const tls: WebTls = {
  cert: 'a certificate',
  key: new Secret('a key'),
  clientCa: 'an authority',
  clientAuth: 'RequireAndVerifyClientCert',
  clientAllowedSans: ['prometheus.test'],
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  honorCipherOrder: true,
};
const before: WebSettings = { tls, users: new Map([['alice', new Secret('a hash')]]), headers: {} };

it.each<[what: string, isNeeded: boolean, after: Partial<WebSettings>]>([
  ['another authority', true, { tls: { ...tls, clientCa: 'another authority' } }],
  ['other names of clients', true, { tls: { ...tls, clientAllowedSans: ['other.test'] } }],
  ['another rule for certificates', true, { tls: { ...tls, clientAuth: 'RequireAnyClientCert' } }],
  ['another password', true, { users: new Map([['alice', new Secret('another hash')]]) }],
  ['one user less', true, { users: new Map() }],
  ['the same again', false, { tls: { ...tls }, users: new Map([['alice', new Secret('a hash')]]) }],
  ['another certificate of its own', false, { tls: { ...tls, cert: 'a renewed certificate' } }],
  ['other headers', false, { headers: { 'x-frame-options': 'deny' } }],
])('a new policy with %s makes clients authenticate again: %s', (_, isNeeded, after) => {
  expect(requiresReauthentication(before, { ...before, ...after })).toBe(isNeeded);
});
