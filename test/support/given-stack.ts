import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { listeners } from '../../scripts/stack/flags.ts';
import { freePort } from '../../bench/free-port.ts';
import { collectOutput } from './process.ts';
import { until } from './until.ts';

/**
 * The stack as a process of its own, on free ports and with a temporary folder of its own; ends
 * with the test.
 */
export async function startStack(...flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-stack-test-'));
  const addresses = Object.fromEntries(
    await Promise.all(listeners.map(async (name) => [name, `127.0.0.1:${await freePort()}`] as const)),
  );
  const words = listeners.map((name) => `--${name}.listen-address=${addresses[name]}`);
  const child = spawn(process.execPath, ['scripts/stack.ts', ...words, ...flags], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...output,
    ended,
    addresses,
    stop: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves once everything runs. */
    started: () =>
      until(
        () => output.stdout() + output.stderr(),
        (seen) => seen.includes('Notifications') || child.exitCode !== null,
        60_000,
      ),
    /** Returns the files on disk, and the programs that still run, by their command lines. */
    leftovers: () => [...readdirSync(folder), ...commandLines().filter(({ line }) => line.includes(folder))],
    /** Its program whose command line has this word. */
    pidOf: (word: string) => commandLines().find(({ line }) => line.includes(folder) && line.includes(word))?.pid ?? 0,
  };
}

function commandLines(): readonly { readonly pid: number; readonly line: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return { pid: Number(name), line: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') };
      } catch {
        return []; // It ended between the two looks.
      }
    });
}
