import type { FastifyRequest } from 'fastify';
import { AdminProblem } from '../policy/problem.ts';
import { isOneOf } from '../../lib/check.ts';
import { knownBasePaths } from '../../appliance/route.ts';
import { hasSeveralHosts } from '../../server/create-app.ts';

/**
 * Throws for requests that other readers may interpret differently: several Host headers or none,
 * other versions of HTTP, and targets in the form for proxies.
 */
export function assertSupportedRequest({ originalUrl, raw }: FastifyRequest): void {
  const { host, expect, 'transfer-encoding': encoding } = raw.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new AdminProblem('malformed_header', {
      detail: 'The Expect header is not 100-continue; nothing was sent.',
      status: 417,
      remedy: 'Leave the header out.',
    });
  }
  if (hasSeveralHosts(raw))
    throw malformed(
      'The request has more than one Host header, which programs read differently',
      'Send it once, with the address that the request goes to.',
    );
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw malformed('The Transfer-Encoding is not chunked', 'Send the body as it is, with its length or in chunks.', {
      connection: 'close',
    });
  if (host === undefined && raw.httpVersion === '1.1')
    throw malformed(
      'The Host header is missing, which HTTP/1.1 requires',
      'Send it, with the address that the request goes to.',
    );
  if (!originalUrl.startsWith('/') || !['1.0', '1.1'].includes(raw.httpVersion))
    throw malformed(
      'The request line needs a path without a host, and HTTP/1.0 or 1.1',
      'Send the path without a host, and take the gateway out of the proxy settings of the client.',
    );
}

/** The paths whose requests the gateway sends to an appliance. */
const relayPaths: readonly string[] = ['/appliances', ...knownBasePaths].map((prefix) => `${prefix}/*`);

/**
 * Throws for a dry run in a form that the path does not take: a client must not freeze, approve or
 * change anything by it.
 */
export function assertNoIgnoredDryRun({ method, headers, originalUrl, routeOptions: { url } }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD' || url === undefined) return;
  const header = headers['x-dry-run'] ?? 'false';
  const isIgnored =
    (header !== 'false' && !relayPaths.includes(url)) || (url !== '/changes' && hasDryRunInQuery(originalUrl));
  if (!isIgnored) return;
  throw malformed(
    'The request asks for a dry run in a form that this path does not take',
    'A call of an appliance takes the header X-Dry-Run: true, POST /changes the query dry_run=true, and no other path any.',
  );
}

function hasDryRunInQuery(url: string): boolean {
  const [, query = ''] = url.split('?', 2);
  return [...new URLSearchParams(query).keys()].some((name) => /^(?:x[-_]?)?dry[-_]?run$/i.test(name));
}

function malformed(because: string, remedy: string, headers: Readonly<Record<string, string>> = {}): AdminProblem {
  return new AdminProblem('malformed_request', { detail: `${because}; nothing was sent.`, remedy, headers });
}

/**
 * Throws for a request from a web page of another origin, which would use a token that the browser
 * remembers.
 */
export function assertSameOrigin({ headers }: FastifyRequest): void {
  if (!isCrossOrigin(headers)) return;
  throw new AdminProblem('cross_origin', {
    detail: 'The request comes from a web page of another origin; nothing was sent.',
  });
}

function isCrossOrigin(headers: FastifyRequest['headers']): boolean {
  const { origin, host } = headers;
  if (origin !== undefined && URL.parse(origin)?.host !== host) return true;
  // Images and other embedded resources have no Origin header.
  return isOneOf(['cross-site', 'same-site'], headers['sec-fetch-site']);
}
