import { certificateEndsAtMs } from '../../http/web-policy.ts';
import { dayOf } from '../../lib/day.ts';

/** Until when a certificate is valid that the exporter itself shows; `whoElse` does not connect once it has expired. */
export function ownCertificateLine(cert: string, whoElse: string, nowMs: number): string {
  const endsAtMs = certificateEndsAtMs({ cert });
  return endsAtMs > nowMs
    ? `Its certificate is valid until ${dayOf(endsAtMs)}.`
    : `Its certificate EXPIRED on ${dayOf(endsAtMs)}: who checks it, as ${whoElse}, does not connect. Renew it.`;
}
