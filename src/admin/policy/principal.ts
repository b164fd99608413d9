import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';
import { globMatcher } from '../../lib/text.ts';
import { isSame } from '../../lib/same.ts';
import { AdminProblem } from './problem.ts';

/**
 * `viewer` reads what is not confidential, `operator` also makes reversible changes, `admin` does
 * everything. `alertmanager` only posts alerts.
 */
export const roles = ['viewer', 'operator', 'admin', 'alertmanager'] as const;
export type Role = (typeof roles)[number];

/** A caller, with its name and limits from the configuration. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** Globs of appliance names: `*` stands for any characters. */
  readonly appliances: readonly string[];
  /** Unix milliseconds. */
  readonly expiresAtMs?: number;
  /** Keys of the only operations that the token may call, within its role; without it, all. */
  readonly allow?: readonly string[];
  /** Keys of operations that the token may never call. */
  readonly deny: readonly string[];
  /**
   * True for a client that cannot send X-Confirm, such as one that was written for the appliance
   * itself.
   */
  readonly skipConfirmation: boolean;
  /**
   * With `warn`, blocking findings of guards are audited and do not block: for clients that cannot
   * send X-Force.
   */
  readonly guards: 'refuse' | 'warn';
  /** The holder of the token. A person cannot approve what the same person asked for. */
  readonly person: string;
  /** True if it may approve the changes of others. */
  readonly approver: boolean;
  /** True if it may send, in an emergency, what needs approval. */
  readonly breakGlass: boolean;
  /** True for one that reads and makes dry runs for an Alertmanager, and never sends a change. */
  readonly plansOnly?: true;
  /**
   * Returns true if the principal may know of an appliance of that name, whether or not it exists.
   */
  readonly covers: (appliance: string) => boolean;
}

/** The sender of an authenticated request: who, by which token, and whether it is still there. */
export interface Caller {
  readonly principal: Principal;
  /** Removed from everything that is recorded. */
  readonly token: Secret;
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal;
  /** The address of the network from which the request came. */
  readonly address: string;
}

export interface PrincipalEntry extends Omit<Principal, 'covers' | 'plansOnly'> {
  /** Lower-case hex of the SHA-256 of the token. */
  readonly sha256: string;
}

export type Identification = { readonly principal: Principal } | { readonly expired: Principal } | undefined;

/** Identifies principals by the digests of their tokens; stores no token. */
export type Principals = ReturnType<typeof createPrincipals>;

interface KnownToken {
  readonly entry: PrincipalEntry;
  readonly digest: Buffer;
  readonly principal: Principal;
  readonly planner: Principal;
}

export function createPrincipals(entries: readonly PrincipalEntry[], now: () => number) {
  let known = entries.map(toKnownToken);
  // Includes former tokens: a leaked token is removed from the configuration, and still must not be
  // recorded.
  const digests = new Set(entries.map(({ sha256 }) => sha256));
  const isExpired = ({ expiresAtMs = Infinity }: Principal): boolean => now() >= expiresAtMs;
  return {
    /** Returns true if a word is any token, also an expired one: it must not be recorded. */
    isToken: (word: string): boolean => digests.has(createHash('sha256').update(word).digest('hex')),
    /**
     * Throws an {@link AdminProblem} if the token of a principal has expired, or if a reload has
     * changed or removed it: for requests that have waited.
     */
    assertInForce(principal: Principal): void {
      if (isExpired(principal)) throw tokenExpired(principal);
      if (!known.some((one) => one.principal === principal || one.planner === principal))
        throw tokenWithdrawn(principal);
    },
    /** Returns the principal of a name while its token is configured and has not expired. */
    inForce: (name: string): Principal | undefined =>
      known.find(({ principal }) => principal.name === name && !isExpired(principal))?.principal,
    /**
     * Returns the principal that plans the repairs of alerts from an Alertmanager: it reads and
     * makes dry runs, on the same appliances.
     */
    plannerFor(principal: Principal): Principal {
      const found = known.find((one) => one.principal === principal);
      if (!found) throw tokenWithdrawn(principal);
      return found.planner;
    },
    replace(next: readonly PrincipalEntry[]): void {
      const before = known;
      known = next.map((entry) => before.find((one) => isSame(one.entry, entry)) ?? toKnownToken(entry));
      for (const { sha256 } of next) digests.add(sha256);
    },
    identify(token: string): Identification {
      const presented = createHash('sha256').update(token).digest();
      let found: Principal | undefined;
      // Compares all of them, so that the time does not tell which one matched.
      for (const { digest, principal } of known) if (timingSafeEqual(digest, presented)) found = principal;
      if (!found) return undefined;
      return isExpired(found) ? { expired: found } : { principal: found };
    },
  };
}

function toKnownToken(entry: PrincipalEntry): KnownToken {
  const { sha256, ...rest } = entry;
  const principal = { ...rest, covers: createMatcher(entry.appliances) };
  return {
    entry,
    digest: Buffer.from(sha256, 'hex'),
    principal,
    planner: { ...principal, role: 'operator', approver: false, breakGlass: false, plansOnly: true },
  };
}

function createMatcher(globs: readonly string[]): (appliance: string) => boolean {
  const matchers = globs.map(globMatcher);
  return (appliance) => matchers.some((fits) => fits(appliance));
}

/** The header that tells a client how to send its token. */
export const challenge = { 'www-authenticate': 'Bearer realm="zlb-exporter"' } as const;

export function tokenExpired({ name, expiresAtMs = 0 }: Principal): AdminProblem {
  return new AdminProblem('token_expired', {
    detail: `The token of ${name} expired on ${new Date(expiresAtMs).toISOString()}.`,
    headers: challenge,
  });
}

/** Returns the refusal of a token that a reload removed while its request waited. */
function tokenWithdrawn({ name }: Principal): AdminProblem {
  return new AdminProblem('unauthenticated', {
    detail: `The token of ${name} was changed or taken out of the configuration before the call was sent; nothing was sent.`,
    remedy: 'Repeat it with a token that is in force, if it is still wanted.',
    headers: challenge,
  });
}
