import type { WebSettings } from '../config/web-settings.ts';

/** How the metrics listener will be protected. */
export function webLine({ tls, users }: WebSettings): string {
  const transport = tls ? 'TLS' : 'plain HTTP';
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : `${users.size} ${users.size === 1 ? 'user' : 'users'}`;
  return `The web configuration is valid: ${transport}${clients}, ${passwords}.`;
}
