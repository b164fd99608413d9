import { spawnSync } from 'node:child_process';

/**
 * Starts a program in a PID namespace of its own, as in a container; it is killed together with
 * `unshare`.
 */
export const inOwnNamespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] as const;

/**
 * True where PID namespaces may be made; says so loudly when not, as the tests are then skipped.
 */
export function canUnshare(): boolean {
  const [unshare, ...options] = inOwnNamespace;
  const can = spawnSync(unshare, [...options, 'true'], { stdio: 'ignore' }).status === 0;
  if (!can) console.warn('NOT RUN: the tests that need two PID namespaces; they want root and unshare of util-linux');
  return can;
}
