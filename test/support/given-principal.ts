import { createHash } from 'node:crypto';
import type { Principal, PrincipalEntry } from '../../src/admin/policy/principal.ts';

/** An admin of all appliances, with the differences that a test names. */
export function givenPrincipal(known: Partial<Principal> = {}): Principal {
  const appliances = known.appliances ?? ['*'];
  return {
    name: 'ann',
    role: 'admin',
    appliances,
    deny: [],
    skipConfirmation: false,
    guards: 'refuse',
    person: 'someone',
    approver: false,
    breakGlass: false,
    // Enough for the names in tests; the globs themselves are tested with the principals.
    covers: (name) => appliances.some((glob) => glob === '*' || glob === name),
    ...known,
  };
}

/** Such a principal as the configuration has it, with this token. */
export function givenEntry(token: string, known: Partial<PrincipalEntry> = {}): PrincipalEntry {
  const { covers: _, ...entry } = givenPrincipal();
  return { ...entry, sha256: createHash('sha256').update(token).digest('hex'), ...known };
}
