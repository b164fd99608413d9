import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { collectOutput } from './process.ts';
import { isThere } from './programs.ts';
import { until } from './until.ts';

/** Programs can be run at a terminal here. */
export const hasTerminals = isThere('python3');

/** Runs its arguments at a terminal of its own, and ends as they do. */
const atTerminal = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

/** Types an answer when the question is on the screen. */
interface Answer {
  readonly question: string;
  readonly typed: string;
}

/** Runs a program at a terminal to its end; resolves to what the screen showed. */
export async function runAtTerminal(
  words: readonly string[],
  answers: readonly Answer[],
  env: Readonly<Record<string, string | undefined>> = process.env,
) {
  const child = spawn('python3', ['-c', atTerminal, ...words], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdout } = collectOutput(child);
  const closed = once(child, 'close') as Promise<[number | null]>;
  for (const { question, typed } of answers) {
    await until(stdout, (screen) => screen.includes(question) || child.exitCode !== null);
    if (child.exitCode === null) child.stdin.write(typed);
  }
  const [code] = await closed;
  return { code, screen: stdout().replaceAll('\r', '') };
}
