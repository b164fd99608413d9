import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/monitoring.ts';
import { collectOutput } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const listeners = ['exporter', 'gateway', 'prometheus', 'alertmanager'] as const;
const programs = [isThere('prometheus'), isThere('prometheus-alertmanager')];

/** The stack as a process of its own, on free ports and with a temporary folder of its own; ends with the test. */
async function startStack(...flags: readonly string[]) {
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
    /** What it keeps on disk, and its programs that still run, by their command lines. */
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

async function ask<Data>(url: string): Promise<Data> {
  const response = await fetch(url);
  return ((await response.json()) as { data: Data }).data;
}

describe.skipIf(programs.includes(false))('npm run stack', () => {
  it('shows on one machine how what the exporter knows becomes a notification, and leaves nothing behind', async () => {
    const stack = await startStack();
    const prometheus = `http://${stack.addresses['prometheus']}/api/v1`;

    expect(await stack.started()).toContain(`http://${stack.addresses['prometheus']}/alerts`);
    for (const name of listeners) expect(stack.stdout(), name).toContain(`http://${stack.addresses[name]}`);
    const up = () =>
      ask<{ result: { value: [number, string] }[] }>(`${prometheus}/query?query=up{job="zlb"}`).then(({ result }) =>
        result.map(({ value }) => value[1]),
      );
    expect(await until(up, (seen) => seen.length > 0, 60_000)).toEqual(['1']);
    const rules = () =>
      ask<{ groups: { rules: { name: string; health: string }[] }[] }>(`${prometheus}/rules`).then(({ groups }) =>
        groups.flatMap((group) => group.rules),
      );
    const evaluated = await until(rules, (seen) => seen.every(({ health }) => health !== 'unknown'), 60_000);
    expect(evaluated.length).toBeGreaterThan(40);
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
    const alertmanagers = () =>
      ask<{ activeAlertmanagers: { url: string }[] }>(`${prometheus}/alertmanagers`).then(({ activeAlertmanagers }) =>
        activeAlertmanagers.map(({ url }) => new URL(url).host),
      );
    expect(await until(alertmanagers, (seen) => seen.length > 0, 60_000)).toEqual([stack.addresses['alertmanager']]);
    const sites = await until(
      () => ask<string[]>(`${prometheus}/label/site/values`),
      (seen) => seen.length === 4,
      60_000,
    );
    expect(sites).toEqual(['berlin', 'lisbon', 'madrid', 'paris']);
    await until(stack.stdout, (seen) => /^[\d:]+ FIRING .*ZlbWatchdog: /m.test(seen), 120_000);

    stack.stop('SIGTERM');

    expect(await stack.ended).toBe(0);
    expect(stack.stderr()).toBe('');
    expect(stack.leftovers()).toEqual([]);
  }, 240_000);

  it('ends with the last words of a program that died', async () => {
    const stack = await startStack();
    await stack.started();

    process.kill(stack.pidOf('src/main.ts'), 'SIGKILL');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toMatch(/^stack: the exporter ended: SIGKILL\. The last that it wrote:\n {2}\{.*\}\n/);
    expect(stack.leftovers()).toEqual([]);
  }, 90_000);

  it('says which flag changes a port that is taken, before it starts anything', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void holder.close());
    const { port } = holder.address() as { port: number };

    const stack = await startStack(`--prometheus.listen-address=127.0.0.1:${port}`);

    expect(await stack.ended).toBe(1);
    expect(stack.stdout()).toBe('');
    expect(stack.stderr()).toContain(
      `stack: 127.0.0.1:${port} is taken; stop what uses it, or choose another with --prometheus.listen-address=127.0.0.1:PORT.`,
    );
  });

  it.each([
    { flag: '--prometheus', name: 'Prometheus', debian: 'prometheus' },
    { flag: '--alertmanager', name: 'Alertmanager', debian: 'prometheus-alertmanager' },
  ])('says what to install when there is no $name, and leaves nothing behind', async ({ flag, name, debian }) => {
    const stack = await startStack(`${flag}=/nowhere/at-all`);

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(
      `stack: cannot start ${name} (/nowhere/at-all): ENOENT; install it (Debian: apt-get install ${debian}), or give its path with ${flag}=PATH\n`,
    );
    expect(stack.leftovers()).toEqual([]);
  });

  it('refuses a flag that it does not know', async () => {
    const stack = await startStack('--promethius=/usr/bin/prometheus');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(`stack: Unknown option '--promethius'; npm run stack -- --help lists the flags\n`);
  });
});
