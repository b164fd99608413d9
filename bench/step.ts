import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { failed, type Result } from './results.ts';

/** A measurement that is made in a process of its own. */
interface Step {
  readonly name: string;
  /** The script, and its arguments. It writes its results to standard output, as JSON. */
  readonly words: readonly string[];
  readonly maxSeconds: number;
}

/**
 * Resolves to the results of a step; if it fails, or takes too long, to one that says so. Whatever
 * it started has ended then.
 */
export async function runStep({ name, words, maxSeconds }: Step): Promise<readonly Result[]> {
  // A group of its own, which can be ended as one.
  const child = spawn(process.execPath, words, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): void => endGroup(child.pid);
  process.once('exit', end);
  const timer = setTimeout(end, maxSeconds * 1_000);
  // Before its output is over: what it has left may hold that open.
  child.once('exit', end);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearTimeout(timer);
  process.off('exit', end);
  if (code === 0) return JSON.parse(output) as readonly Result[];
  return [failed(name, code === null ? `not over after ${maxSeconds} s` : `ended with ${code}`)];
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
