import { spawnSync } from 'node:child_process';

/** A program that could not do its part: which one, and what it said. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program and returns what it wrote; throws a ProgramError with its last lines if it fails. */
export function run(program: string, words: readonly string[], { cwd, env = {} }: RunOptions = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  if (status === 0) return stdout.trim();
  const said = error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-20).join('\n');
  throw new ProgramError(`${program} ${words.slice(0, 3).join(' ')} failed: ${said}`);
}
