import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export interface Locker {
  /**
   * Takes the lock now or at a Unix time in ms; resolves to `taken`, or `refused` and the message.
   */
  take(time?: number): Promise<string>;
  release(): Promise<void>;
  /** Stops it as SIGSTOP does, or a pause of its virtual machine. */
  pause(): void;
  /** Kills it without a warning; resolves once it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a process that can take the lock of an audit, under another program where one is given; it
 * ends with the test.
 */
export async function startLocker(file: string, under: readonly string[] = []): Promise<Locker> {
  const program = fileURLToPath(new URL('./locker.ts', import.meta.url));
  const [command, ...words] = [...under, process.execPath, program, file];
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`);
    return String((await lines.next()).value);
  };
  await lines.next();
  return {
    take: (time = 0) => ask(`take ${time}`),
    async release() {
      await ask('release');
    },
    pause() {
      const own = child.pid ?? 0;
      // Under `unshare` it is the child of that.
      const [inner] = readFileSync(`/proc/${own}/task/${own}/children`, 'utf8').split(' ');
      process.kill(Number(inner) || own, 'SIGSTOP');
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
