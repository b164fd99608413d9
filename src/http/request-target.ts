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

/** Refuses what is meant for a proxy: it begins with a host, which would be taken for a part of the path. */
export function refuseProxyForm({ originalUrl }: FastifyRequest): void {
  if (originalUrl.startsWith('/')) return;
  throw new AdminProblem('malformed_request', {
    detail: 'The request names its path in the form that is for proxies; nothing was sent.',
    remedy: 'Send the path alone, and take the gateway out of the proxy settings of the client.',
  });
}
