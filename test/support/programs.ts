import { spawnSync } from 'node:child_process';

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
