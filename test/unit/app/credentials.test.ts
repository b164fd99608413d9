import { expect, it } from 'vitest';
import { credentialsOf } from '../../../src/app/credentials.ts';
import { makeAuthority } from '../../support/authority.ts';
import { loadText } from '../config/given-config.ts';

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);

it('the credentials of the exporter are its listener certificates, and tokens with an expiry', async () => {
  const dated = (notAfter: string) => makeAuthority().issueFlawed({ notAfter: new Date(day(notAfter)) });
  const [gateway, log, web] = [dated('2031-01-01'), dated('2032-01-01'), dated('2033-01-01')];
  const settings = await loadText(
    `
appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]
requests: { listen_tcp: :5514, tls: { cert_file: log.pem, key_file: log.key } }
admin:
  listen_address: :9445
  tls: { cert_file: cert.pem, key_file: key.pem }
  tokens:
  - { name: alice, sha256: ${'ab'.repeat(32)}, role: viewer, expires: 2030-01-01 }
  - { name: bob, sha256: ${'cd'.repeat(32)}, role: viewer }
`,
    {
      files: { 'cert.pem': gateway.cert, 'key.pem': gateway.key, 'log.pem': log.cert, 'log.key': log.key },
    },
  );

  expect(credentialsOf(settings, { tls: { cert: web.cert } })).toEqual([
    { kind: 'metrics_certificate', principal: '', endsAtMs: day('2033-01-01') },
    { kind: 'gateway_certificate', principal: '', endsAtMs: day('2031-01-01') },
    { kind: 'request_log_certificate', principal: '', endsAtMs: day('2032-01-01') },
    { kind: 'token', principal: 'alice', endsAtMs: day('2030-01-01') },
  ]);
});

it('an exporter without TLS and tokens has no credentials', async () => {
  const settings = await loadText('appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]');

  expect(credentialsOf(settings)).toEqual([]);
});
