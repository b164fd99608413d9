import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { collectOutput } from '../../support/process.ts';

export interface Appender {
  readonly pid: number;
  /** The lines it printed that are complete. */
  printed(): readonly string[];
  /** Kills it without a warning. */
  kill(): Promise<void>;
}

/** Starts the appender, under another program where one is given; it ends with the test. */
export function startAppender(args: readonly string[], under: readonly string[] = []): Appender {
  const program = fileURLToPath(new URL('./appender.ts', import.meta.url));
  const [command = '', ...words] = [...under, process.execPath, program, ...args];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const output = collectOutput(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid ?? 0,
    printed: () => output.stdout().split('\n').slice(0, -1),
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
