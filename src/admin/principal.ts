import { createHash, timingSafeEqual } from 'node:crypto';
import { globPattern } from '../lib/glob.ts';
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
}

export interface PrincipalEntry extends Principal {
  /** Lower-case hex of the SHA-256 of the token. */
  readonly sha256: string;
}

export type Identification = { readonly principal: Principal } | { readonly expired: Principal } | undefined;

/** Knows the principals by the digests of their tokens, and no token. */
export interface Principals {
  /** Takes the same time whichever token is wrong, and wherever. */
  identify(token: string): Identification;
}

export function createPrincipals(entries: readonly PrincipalEntry[], now: () => number): Principals {
  const digests = entries.map(({ sha256 }) => Buffer.from(sha256, 'hex'));
  return {
    identify(token) {
      const presented = createHash('sha256').update(token).digest();
      let found: PrincipalEntry | undefined;
      // All are compared, the right one included: the time says nothing about which one it was.
      for (const [index, digest] of digests.entries()) if (timingSafeEqual(digest, presented)) found = entries[index];
      if (!found) return undefined;
      return found.expiresAtMs !== undefined && now() >= found.expiresAtMs ? { expired: found } : { principal: found };
    },
  };
}

/** Whether a principal may know of an appliance of that name, whether or not there is one. */
export function covers({ appliances }: Principal, appliance: string): boolean {
  return appliances.some((glob) => globPattern(glob).test(appliance));
}
