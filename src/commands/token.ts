import { createHash, randomBytes } from 'node:crypto';
import { dayMs, dayOf } from '../lib/time.ts';
import type { Command } from './command.ts';

const yearMs = 365 * dayMs;

/**
 * Prints a token for the admin gateway: alone on standard output, for a file; its digest on
 * standard error.
 */
export const token: Command = async ({ now, say, warn }) => {
  const made = makeToken();
  const expires = dayOf(now() + yearMs);
  say(made.token);
  warn('This token is shown once: give it to its user, and only its digest to the configuration, such as');
  warn('');
  warn('admin:');
  warn('  tokens:');
  warn(`    - { name: alice, sha256: ${made.sha256}, role: operator, appliances: ['*'], expires: ${expires} }`);
  warn('');
  warn('The role operator makes changes that can be undone, viewer makes none, admin makes all.');
  warn('docs/configuration.md says what else a token can be limited to.');
  return 0;
};

/** Makes a token of the admin gateway and its digest for the configuration. */
export function makeToken(): { readonly token: string; readonly sha256: string } {
  const token = `zlb_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}
