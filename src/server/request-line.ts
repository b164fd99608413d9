import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** Returns the path as received: neither decoded nor normalised, without the query. */
export function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/\?.*$/s, '');
}

/** Returns true for more than one Host header, which RFC 9112 section 3.2 answers with 400. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  // `rawHeaders` alternates names and values.
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  return count > 1;
}
