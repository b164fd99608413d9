import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Holds what scripts/install-judges.ts installed because the machine did not have it. */
export const judgesFolder = fileURLToPath(new URL('../../node_modules/.cache/judges', import.meta.url));

/** Returns the path of a program, or undefined with one clear line where it is missing. */
export function judge(name: string): string | undefined {
  const path = find(name);
  if (path === undefined) console.warn(`NOT RUN: the checks by ${name}, which is not installed`);
  return path;
}

export function find(name: string): string | undefined {
  const installed = [join(judgesFolder, 'bin', name), join(judgesFolder, 'python/bin', name)];
  const own = installed.find((path) => existsSync(path));
  if (own !== undefined) return own;
  const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Runs a program and returns what it printed and its exit code. */
export function run(
  program: string,
  args: readonly string[],
  input?: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 });
}
