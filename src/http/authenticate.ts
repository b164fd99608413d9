import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';
import { challenge, tokenExpired } from '../admin/refusals.ts';
import type { Principal, Principals } from '../admin/principal.ts';
import { Secret } from '../lib/secret.ts';
import { networkOf } from './crowd.ts';
import { hasTokenInQuery, tokensIn } from './credentials.ts';

export interface Authenticated {
  readonly principal: Principal;
  readonly token: Secret;
}

/** Wrong tokens of one network a minute; what comes on top is turned away sooner and no longer logged. */
const failuresPerMinute = 30;

/**
 * Who sends a request; rejects with an {@link AdminProblem}. A right token is never turned away for the wrong ones of
 * others behind the same address. Needs the rate-limit plug-in.
 */
export function createAuthenticator(
  app: FastifyInstance,
  principals: Principals,
  /** Until an address has had too many; `known` is whose token has expired. */
  onFailure: (request: FastifyRequest, problem: AdminProblem, known?: Authenticated) => void,
): (request: FastifyRequest) => Promise<Authenticated> {
  const countFailure = app.createRateLimit({
    max: failuresPerMinute,
    timeWindow: 60_000,
    keyGenerator: ({ ip }) => networkOf(ip),
  });

  async function refuse(request: FastifyRequest, problem: AdminProblem, known?: Authenticated): Promise<never> {
    const count = await countFailure(request);
    if (!count.isAllowed && count.isExceeded) {
      throw new AdminProblem('too_many_failures', {
        detail: `More than ${failuresPerMinute} requests without a valid token came from this address within a minute.`,
        remedy: 'Check the token of the client; a request with a valid one is answered all the time.',
        headers: { 'retry-after': String(count.ttlInSeconds) },
      });
    }
    onFailure(request, problem, known);
    throw problem;
  }

  return async (request) => {
    const [token, ...more] = tokensIn(request.headers);
    const inQuery = hasTokenInQuery(request.originalUrl);
    if (token === undefined) return await refuse(request, inQuery ? tokenInUrl(401) : unauthenticated('No token came'));
    if (more.length > 0) return await refuse(request, unauthenticated('Different tokens came in several headers'));
    const found = principals.identify(token);
    if (!found) return await refuse(request, unauthenticated('The token is not known'));
    const secret = new Secret(token);
    if ('principal' in found) return { principal: found.principal, token: secret };
    return await refuse(request, tokenExpired(found.expired.name, found.expired.expiresAtMs ?? 0), {
      principal: found.expired,
      token: secret,
    });
  };
}

/** Refuses a token in a query even beside a valid one in a header: it is known to others by now. */
export function refuseTokenInQuery(url: string): void {
  if (hasTokenInQuery(url)) throw tokenInUrl(400);
}

function unauthenticated(because: string): AdminProblem {
  return new AdminProblem('unauthenticated', {
    detail: `${because}.`,
    remedy: 'Send Authorization: Bearer TOKEN, or the token in ZAPI_KEY; `zlb-exporter token` makes one.',
    headers: challenge,
  });
}

function tokenInUrl(status: 400 | 401): AdminProblem {
  return new AdminProblem('token_in_url', {
    status,
    detail: 'A token in a URL is never accepted: it stays in histories, logs and referrers.',
    remedy: 'Send it in the header Authorization: Bearer TOKEN, and replace the one that was in the URL.',
    headers: status === 401 ? challenge : {},
  });
}
