import { certificateEndsAtMs } from '../../http/web-policy.ts';
import { dayOf } from '../../lib/time.ts';

/** Returns a line about the end of one of the exporter's own certificates; `clients` (a clause) refuse an expired one. */
export function ownCertificateLine(cert: string, clients: string, nowMs: number): string {
  const endsAtMs = certificateEndsAtMs({ cert });
  return endsAtMs > nowMs
    ? `Its certificate is valid until ${dayOf(endsAtMs)}.`
    : `Its certificate EXPIRED on ${dayOf(endsAtMs)}: clients that check it, as ${clients}, refuse to connect. Renew it.`;
}
