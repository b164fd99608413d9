import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AdminProblem } from '../policy/problem.ts';
import { challenge, type Caller, type Principals, tokenExpired } from '../policy/principal.ts';
import { keyHeaderNames } from '../../appliance/api-key.ts';
import { Secret } from '../../lib/secret.ts';
import { networkOf } from '../../server/connections.ts';

type Authenticated = Pick<Caller, 'principal' | 'token'>;

/** Wrong tokens allowed per network and minute; further failures get 429 and are not logged. */
export const failuresPerMinute = 30;

/**
 * Creates a function that finds the principal of a request; it rejects with an
 * {@link AdminProblem}. A valid token is accepted even if others behind the same address sent too
 * many wrong ones. Needs the rate-limit plug-in.
 */
export function createAuthenticator(
  app: FastifyInstance,
  principals: Principals,
  /**
   * Called for each failure until the network is rate-limited; `known` is the principal of an
   * expired token.
   */
  onFailure: (request: FastifyRequest, problem: AdminProblem, known?: Authenticated) => void,
): (request: FastifyRequest) => Promise<Authenticated> {
  const countFailure = app.createRateLimit({
    max: failuresPerMinute,
    timeWindow: 60_000,
    keyGenerator: ({ ip }) => networkOf(ip),
  });

  async function reject(request: FastifyRequest, problem: AdminProblem, known?: Authenticated): Promise<never> {
    const count = await countFailure(request);
    if (!count.isAllowed && count.isExceeded) {
      throw new AdminProblem('too_many_failures', {
        detail: `More than ${failuresPerMinute} requests without a valid token came from this address within a minute.`,
        headers: { 'retry-after': String(count.ttlInSeconds) },
      });
    }
    onFailure(request, problem, known);
    throw problem;
  }

  return async (request) => {
    const [token, ...more] = tokensIn(request.raw);
    const inQuery = hasTokenInQuery(request.originalUrl);
    if (token === undefined) return await reject(request, inQuery ? tokenInUrl(401) : unauthenticated('No token came'));
    if (more.length > 0) return await reject(request, unauthenticated('Different tokens came in several headers'));
    const found = principals.identify(token);
    if (!found) return await reject(request, unauthenticated('The token is not known'));
    const secret = new Secret(token);
    if ('principal' in found) return { principal: found.principal, token: secret };
    return await reject(request, tokenExpired(found.expired), {
      principal: found.expired,
      token: secret,
    });
  };
}

/**
 * Throws for a token in the query even if a header has a valid one: the URL may have been logged.
 */
export function assertNoTokenInQuery(url: string): void {
  if (hasTokenInQuery(url)) throw tokenInUrl(400);
}

/** Returns the different tokens of a request; the caller must not choose between several. */
function tokensIn({ headersDistinct: headers }: IncomingMessage): readonly string[] {
  // Not `headers`: of a repeated Authorization it has only the first.
  const bearers = (headers.authorization ?? []).map((value) => /^Bearer +(\S+) *$/i.exec(value)?.[1]);
  const keys = keyHeaderNames.flatMap((name) => headers[name.toLowerCase()] ?? []);
  const found = [...bearers, ...keys].filter((token): token is string => token !== undefined && token !== '');
  return [...new Set(found)];
}

const tokenNames = /^(?:access_?|auth_?)?token$|^(?:z?api[-_]?)?key$|^authorization$|^bearer$/i;

/**
 * Returns true if the query has a parameter with a usual name of a token: URLs are kept in
 * histories, logs and referrers.
 */
function hasTokenInQuery(url: string): boolean {
  const query = url.indexOf('?');
  if (query === -1) return false;
  return [...new URLSearchParams(url.slice(query + 1)).keys()].some((name) => tokenNames.test(name));
}

function unauthenticated(because: string): AdminProblem {
  return new AdminProblem('unauthenticated', {
    detail: `${because}.`,
    headers: challenge,
  });
}

function tokenInUrl(status: 400 | 401): AdminProblem {
  return new AdminProblem('token_in_url', {
    detail: 'A token in a URL is never accepted: it stays in histories, logs and referrers.',
    status,
    headers: status === 401 ? challenge : {},
  });
}
