import type { FastifyRequest } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';

/** The path as it came: neither decoded nor normalised, without the query. */
export function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/\?.*$/s, '');
}

/** A target that the router takes, in place of one that it would give up on: that would meet no hook. */
export function routableTarget(target: string): string {
  if (!target.startsWith('/')) return '/';
  return decoded(target) === undefined ? target.replaceAll('%', '%25') : target;
}

/** Undefined when it cannot be decoded. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Refuses what the server understands and others may not: versions of HTTP that are none here, and the form that is for
 * proxies, where a host would be taken for a part of the path.
 */
export function refuseOddForm({ originalUrl, raw }: FastifyRequest): void {
  if (originalUrl.startsWith('/') && ['1.0', '1.1'].includes(raw.httpVersion)) return;
  throw new AdminProblem('malformed_request', {
    detail: 'The first line of the request is not one of HTTP/1.1 with a path alone; nothing was sent.',
    remedy: 'Send the path without a host, and take the gateway out of the proxy settings of the client.',
  });
}
