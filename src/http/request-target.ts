import type { FastifyRequest } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';
import { percentDecoded } from '../lib/percent-decoded.ts';
import { hasSeveralHosts } from './guarded-server.ts';

/** The path as it came: neither decoded nor normalised, without the query. */
export function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/\?.*$/s, '');
}

/** A target that the router takes, in place of one that it would give up on: that would meet no hook. */
export function routableTarget(target: string): string {
  if (!target.startsWith('/')) return '/';
  return percentDecoded(target) === undefined ? target.replaceAll('%', '%25') : target;
}

/**
 * Refuses what the server understands and others may not: versions of HTTP that are none here, and the form that is for
 * proxies, where a host would be taken for a part of the path.
 */
export function refuseOddForm({ originalUrl, raw }: FastifyRequest): void {
  const { host, expect } = raw.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new AdminProblem('malformed_header', {
      status: 417,
      detail: 'The header Expect asks for something that there is not; nothing was sent.',
      remedy: 'Leave the header out.',
    });
  }
  if (hasSeveralHosts(raw)) {
    throw new AdminProblem('malformed_request', {
      detail: 'The header Host came more than once, so that each reader may take another; nothing was sent.',
      remedy: 'Send it once, with the address that the request goes to.',
    });
  }
  if (host === undefined && raw.httpVersion === '1.1') {
    throw new AdminProblem('malformed_request', {
      detail: 'The header Host is missing, which HTTP/1.1 has in every request; nothing was sent.',
      remedy: 'Send it, with the address that the request goes to.',
    });
  }
  if (originalUrl.startsWith('/') && ['1.0', '1.1'].includes(raw.httpVersion)) return;
  throw new AdminProblem('malformed_request', {
    detail: 'The first line of the request is not one of HTTP/1.1 with a path alone; nothing was sent.',
    remedy: 'Send the path without a host, and take the gateway out of the proxy settings of the client.',
  });
}
