import { X509Certificate } from 'node:crypto';
import { lifeOf } from '../lib/chain.ts';
import type { Credential } from '../metrics/self.ts';
import type { Settings } from '../config/settings.ts';

type Listener = { readonly tls?: { readonly cert: string } | undefined } | undefined;

/** Returns the configured certificates and tokens of the exporter itself whose end is known. */
export function credentialsOf({ admin, requests }: Settings, web?: Listener): readonly Credential[] {
  const certificates = [
    ['metrics_certificate', web],
    ['gateway_certificate', admin],
    ['request_log_certificate', requests],
  ] as const;
  const ends = certificates.flatMap(([kind, { tls } = {}]: readonly [Credential['kind'], Listener]) =>
    tls ? { kind, principal: '', endsAtMs: lifeOf(new X509Certificate(tls.cert)).endsAtMs } : [],
  );
  const tokens = (admin?.tokens ?? []).flatMap(({ name, expiresAtMs }) =>
    expiresAtMs === undefined ? [] : { kind: 'token' as const, principal: name, endsAtMs: expiresAtMs },
  );
  // A certificate may have a date that cannot be parsed.
  return [...ends, ...tokens].filter(({ endsAtMs }) => !Number.isNaN(endsAtMs));
}
