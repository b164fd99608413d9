import type { WebSettings } from '../../config/web-settings.ts';
import { certificateEndsAtMs } from '../../http/web-policy.ts';
import { dayOf } from '../../lib/day.ts';

/** How the metrics listener will be protected, and until when. */
export function webLines({ tls, users }: WebSettings, nowMs: number): readonly string[] {
  const transport = tls ? 'TLS' : 'plain HTTP';
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : `${users.size} ${users.size === 1 ? 'user' : 'users'}`;
  const protection = `The web configuration is valid: ${transport}${clients}, ${passwords}.`;
  if (!tls) return [protection];
  const endsAtMs = certificateEndsAtMs(tls);
  const day = dayOf(endsAtMs);
  const end =
    endsAtMs > nowMs
      ? `Its certificate is valid until ${day}.`
      : `Its certificate EXPIRED on ${day}: who checks it, as Prometheus does, does not connect. Renew it.`;
  return [protection, end];
}
