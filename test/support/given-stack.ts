import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { givenFolder } from './folder.ts';
import { collectOutput } from './process.ts';
import { until } from './until.ts';

const listeners = ['exporter', 'gateway', 'prometheus', 'alertmanager'];

/** The stack on free ports, with a temporary folder of its own; ends with the test. */
export async function startStack(...flags: readonly string[]) {
  const folder = givenFolder();
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
  });
  return {
    ...output,
    ended,
    addresses,
    stop: () => child.kill('SIGTERM'),
    leftovers: () => readdirSync(folder),
    /** Resolves once everything runs. */
    started: () =>
      until(
        () => output.stdout() + output.stderr(),
        (seen) => seen.includes('Notifications') || child.exitCode !== null,
      ),
  };
}
