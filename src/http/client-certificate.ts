import type { X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { WebTls } from './web-policy.ts';

/** Returns why a client certificate is rejected, for the log; undefined if it is accepted. */
export function clientCertificateProblem(socket: TLSSocket, tls: WebTls): string | undefined {
  const { clientAuth, clientAllowedSans } = tls;
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return clientAuth === 'VerifyClientCertIfGiven' ? undefined : 'it shows no certificate';
  if (clientAuth !== 'RequireAnyClientCert' && !socket.authorized)
    return `its certificate is not valid under client_ca (${String(socket.authorizationError)})`;
  if (clientAllowedSans && !hasOneOf(certificate, clientAllowedSans))
    return 'its certificate has none of the names in client_allowed_sans';
  return undefined;
}

function hasOneOf({ subjectAltName = '' }: X509Certificate, allowed: readonly string[]): boolean {
  const names = new Set(alternativeNames(subjectAltName));
  return allowed.some((name) => names.has(plainAddress(name)));
}

/** Returns the DNS names, addresses and URIs of a subject alternative name in Node's text form. */
function alternativeNames(text: string): readonly string[] {
  // A name that holds a comma or a quote is written as a JSON string, so that it cannot pass for
  // two.
  const entries = text.matchAll(/(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/gy);
  return [...entries].flatMap(([, kind = '', value = '']) => {
    if (!['DNS', 'IP Address', 'email', 'URI'].includes(kind)) return [];
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
    return [kind === 'IP Address' ? plainAddress(name) : name];
  });
}

/** Returns an IPv6 address in its canonical spelling; any other text unchanged. */
function plainAddress(text: string): string {
  return isIP(text) === 6 ? new SocketAddress({ address: text, family: 'ipv6' }).address : text;
}
