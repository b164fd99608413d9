import { createHash, timingSafeEqual } from 'node:crypto';
import { globMatcher } from '../lib/glob.ts';
import { isSame } from '../lib/same.ts';
import type { Role } from './policy.ts';

/** Who called, as the configuration names and limits them. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** Globs of appliance names: `*` stands for any characters. */
  readonly appliances: readonly string[];
  /** Unix milliseconds. */
  readonly expiresAtMs?: number;
  /** Keys of the only operations the token may call, within its role; all of them when left out. */
  readonly allow?: readonly string[];
  /** Keys of operations it may never call. */
  readonly deny: readonly string[];
  /** True for a client that cannot send X-Confirm, such as one that was written for the appliance itself. */
  readonly skipConfirmation: boolean;
  /** With `warn`, a blocking finding of a guard goes through and is audited: for a client that cannot send X-Force. */
  readonly guards: 'refuse' | 'warn';
  /** Whether it may know of an appliance of that name, whether or not there is one. */
  readonly covers: (appliance: string) => boolean;
}

export interface PrincipalEntry extends Omit<Principal, 'covers'> {
  /** Lower-case hex of the SHA-256 of the token. */
  readonly sha256: string;
}

export type Identification = { readonly principal: Principal } | { readonly expired: Principal } | undefined;

/** Knows the principals by the digests of their tokens, and no token. */
export interface Principals {
  /** Takes the same time whichever token is wrong, and wherever. */
  identify(token: string): Identification;
  /** Whether a word is the token of anybody, expired ones included: such a word must not be written down. */
  isToken(word: string): boolean;
  /** False once the entry of a principal was changed or taken out, also for a request that came before. */
  isInForce(principal: Principal): boolean;
  /** From now on these, and no others. */
  replace(entries: readonly PrincipalEntry[]): void;
}

interface Known {
  readonly entry: PrincipalEntry;
  readonly digest: Buffer;
  readonly principal: Principal;
}

export function createPrincipals(entries: readonly PrincipalEntry[], now: () => number): Principals {
  let known = entries.map(toKnown);
  // Those of before too: a token that leaked is taken out, and must not be written down all the same.
  const digests = new Set(entries.map(({ sha256 }) => sha256));
  return {
    isToken: (word) => digests.has(createHash('sha256').update(word).digest('hex')),
    isInForce: (principal) => known.some((one) => one.principal === principal),
    replace(next) {
      const before = known;
      known = next.map((entry) => before.find((one) => isSame(one.entry, entry)) ?? toKnown(entry));
      for (const { sha256 } of next) digests.add(sha256);
    },
    identify(token) {
      const presented = createHash('sha256').update(token).digest();
      let found: Principal | undefined;
      // All are compared, the right one included: the time says nothing about which one it was.
      for (const { digest, principal } of known) if (timingSafeEqual(digest, presented)) found = principal;
      if (!found) return undefined;
      return found.expiresAtMs !== undefined && now() >= found.expiresAtMs ? { expired: found } : { principal: found };
    },
  };
}

function toKnown(entry: PrincipalEntry): Known {
  const { sha256, ...rest } = entry;
  return {
    entry,
    digest: Buffer.from(sha256, 'hex'),
    principal: { ...rest, covers: coverage(entry.appliances) },
  };
}

function coverage(globs: readonly string[]): (appliance: string) => boolean {
  const matchers = globs.map(globMatcher);
  return (appliance) => matchers.some((fits) => fits(appliance));
}
