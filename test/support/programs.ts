import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * True when a program can be started by its name; says so loudly when it cannot, as its tests are
 * then skipped.
 */
export function isThere(program: string): boolean {
  const there = spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
  if (!there) console.warn(`NOT RUN: the tests that need ${program}`);
  return there;
}

/** Feeds a program and returns its exit code and all that it wrote. */
export function feed(
  program: string,
  args: readonly string[],
  input: Buffer,
): { status: number | null; stdout: Buffer; stderr: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { input, maxBuffer: 64 * 1024 * 1024 });
  return { status, stdout, stderr: stderr.toString() };
}

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

/**
 * True where a process can be given to another user who may enter this clone; says so loudly when
 * not, as the tests are then skipped.
 */
export function canActAsOthers(): boolean {
  const canEnter = spawnSync('ls', [resolve('package.json')], { uid: 65_534, stdio: 'ignore' }).status === 0;
  if (!canEnter)
    console.warn('NOT RUN: the tests that need another user; they want root, and a clone outside of homes');
  return canEnter;
}
