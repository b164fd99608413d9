import type { Command } from './command.ts';
import { makeToken } from './make-token.ts';

const yearMs = 365 * 86_400_000;

/** Prints a token for the admin gateway: alone on standard output, for a file; its digest on standard error. */
export const token: Command = async ({ say, warn }) => {
  const made = makeToken();
  const expires = new Date(Date.now() + yearMs).toISOString().slice(0, 10);
  say(made.token);
  warn('This token is shown once: give it to its user, and only its digest to the configuration, such as');
  warn('');
  warn('admin:');
  warn('  tokens:');
  warn(`    - { name: alice, sha256: ${made.sha256}, role: viewer, appliances: ['*'], expires: ${expires} }`);
  warn('');
  warn('docs/configuration.md says what else a token can be limited to.');
  return 0;
};
