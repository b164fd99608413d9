import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../../src/lib/check.ts';

/** Why the stack cannot start or go on: what happened, where, and what to do now. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

/** A running program of the stack. */
export interface Program {
  readonly name: string;
  readonly command: string;
  /** Returns the latest lines of both outputs, oldest first. */
  lines(): readonly string[];
  /** Resolves once it has ended, asked or not, to how: `exit code 1` or `SIGKILL`. */
  readonly ended: Promise<string>;
  /** Asks it to stop, and makes it after ten seconds. */
  stop(): Promise<void>;
}

export interface ProgramStart {
  /** The usual name. */
  readonly name: string;
  /** A path, or a name to be found in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** The remedy if there is no such program. */
  readonly remedy: string;
}

const keptLines = 1_000;
const patienceMs = 10_000;
const readyWithinMs = 60_000;

/** Starts a program; rejects with a StackError where there is none. */
export async function startProgram({ name, command, args, remedy }: ProgramStart): Promise<Program> {
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
    });
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new StackError(`cannot start ${name} (${command}): ${errorCode(error) || String(error)}; ${remedy}`);
  }
  // A stack that breaks in the middle leaves nothing behind either.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  void ended.then(() => process.off('exit', kill));

  return {
    name,
    command,
    lines: () => [...lines],
    ended,
    async stop() {
      child.kill('SIGTERM');
      const timer = new AbortController();
      await Promise.race([ended, delay(patienceMs, undefined, { signal: timer.signal })]);
      timer.abort();
      kill();
      await ended;
    },
  };
}

/**
 * Waits until a page of a program answers; rejects with a StackError when it ends before, or never
 * does.
 */
export async function ready(program: Program, page: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  const end = program.ended.then((how) => ({ how }));
  for (;;) {
    const answer = fetch(page, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    const seen = await Promise.race([answer, end]);
    if (seen === true) return;
    if (seen !== false)
      throw new StackError(lastWords(program, `(${program.command}) ended at its start: ${seen.how}`));
    if (performance.now() > deadline)
      throw new StackError(lastWords(program, `was not ready after ${readyWithinMs / 1_000} s`));
    await delay(50);
  }
}

/** Returns the latest lines of a program, and below them, where people look, its fate. */
export function lastWords({ name, lines }: Program, what: string): string {
  const written = lines().slice(-10);
  const log = written.length === 0 ? [] : [`the last that ${name} wrote:`, ...written.map((line) => `  ${line}`)];
  return [...log, `${name} ${what}`].join('\n');
}

/**
 * Returns the address at which this machine reaches a listener: `127.0.0.1:9444` for `:9444`, which
 * is every address.
 */
export function reachable(address: string): string {
  return address.replace(/^(?:0\.0\.0\.0|\[::\])?:(?=\d+$)/, '127.0.0.1:');
}
