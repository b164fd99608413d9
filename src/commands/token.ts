import { createHash, randomBytes } from 'node:crypto';
import { dayMs, dayOf } from '../lib/time.ts';
import type { Command } from './command.ts';

const yearMs = 365 * dayMs;

/**
 * Prints a token for the admin gateway: alone on standard output, for a file; its digest on
 * standard error.
 */
export const token: Command = async ({ now, printOut, printErr }) => {
  const made = makeToken();
  const expires = dayOf(now() + yearMs);
  printOut(made.token);
  printErr('This token is shown once: give it to its user, and only its digest to the configuration, such as');
  printErr('');
  printErr('admin:');
  printErr('  tokens:');
  printErr(`    - { name: alice, sha256: ${made.sha256}, role: operator, appliances: ['*'], expires: ${expires} }`);
  printErr('');
  printErr('The role operator makes changes that can be undone, viewer makes none, admin makes all.');
  printErr('docs/configuration.md says what else a token can be limited to.');
  return 0;
};

export function makeToken(): { readonly token: string; readonly sha256: string } {
  const token = `zlb_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}
