import type { WebSettings } from '../../config/web-settings.ts';
import { ownCertificateLine } from './own-certificate.ts';

/** How the metrics listener will be protected, and until when. */
export function webLines({ tls, users }: WebSettings, nowMs: number): readonly string[] {
  const transport = tls ? 'TLS' : 'plain HTTP';
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : `${users.size} ${users.size === 1 ? 'user' : 'users'}`;
  const protection = `The web configuration is valid: ${transport}${clients}, ${passwords}.`;
  if (!tls) return [protection];
  return [protection, ownCertificateLine(tls.cert, 'Prometheus does', nowMs)];
}
