import type { Listening } from '../../support/tls-server.ts';

/** A server as a target, with its path: the gateway need not find out where the API is. */
export function targetOf({ url, material }: Pick<Listening, 'url' | 'material'>) {
  return { url: new URL('/api/v4.0/api.cgi', url).href, fingerprintSha256: material.fingerprintSha256 };
}
