import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';
import { collectOutput, runExporter, startExporter } from '../support/process.ts';
import { seriesOf } from '../support/samples.ts';
import { recordedWithoutProbes } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';

const anyPort = '--web.listen-address=127.0.0.1:0';

/** A configuration file in a folder of its own. */
function givenConfig(text: string): string {
  const file = join(givenFolder(), 'zlb.yml');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

async function givenAppliance() {
  const appliance = await startSimulatedAppliance({ world: recordedWithoutProbes(), apiKey: 'canarykey' });
  onTestFinished(() => appliance.close());
  const { url, fingerprintSha256 } = appliance;
  const tls = { fingerprint_sha256: fingerprintSha256 };
  const entry = { name: 'lb-one', url, api_key: 'canarykey', tls, labels: { site: 'here' } };
  const file = givenConfig(JSON.stringify({ appliances: [entry], polling: { max_busy_ratio: 1 } }));
  return { ...appliance, file };
}

/** Whether a port could be taken on all addresses, until the test has finished. */
async function holdPort(port: number): Promise<boolean> {
  const holder = createServer();
  const held = await new Promise<boolean>((resolve) => {
    holder.once('error', () => resolve(false));
    holder.listen(port, () => resolve(true));
  });
  if (held) onTestFinished(() => void holder.close());
  return held;
}

/** Returns the first output on a terminal. */
async function shownOnTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  // Each would decide about colours for the terminal.
  const { FORCE_COLOR: _forced, NO_COLOR: _plain, CI: _automated, ...own } = process.env;
  const command = [process.execPath, 'src/main.ts', ...args].join(' ');
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...own, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  const { stdout } = collectOutput(child);
  return await until(stdout, (seen) => seen.includes('Ctrl-C'));
}

const text = async (url: string): Promise<string> => (await fetch(url)).text();

it.each([['token'], ['--help'], ['completion bash'], ['simulate --help']])(
  '%s fails, and says that its output is not whole, when the disk of its output is full',
  (command) => {
    const disk = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(disk));

    const { status, stderr } = spawnSync(process.execPath, ['src/main.ts', ...command.split(' ')], {
      stdio: ['ignore', disk, 'pipe'],
      encoding: 'utf8',
    });

    expect(status).toBe(1);
    expect(stderr).toContain('the output could not be written (ENOSPC) and is not whole: make room, and ask again');
  },
);

describe('the exporter without a configuration', () => {
  it('serves three simulated appliances within 10 s, prints a short greeting, and stops on SIGTERM with 0', async () => {
    const startedAt = performance.now();
    const exporter = startExporter([anyPort]);
    const url = await exporter.url();

    const appliances = (page: string): Set<string> =>
      new Set(seriesOf(page, 'zlb_farm_status').map((line) => /appliance="([^"]*)"/.exec(line)?.[1] ?? ''));
    await until(
      () => text(`${url}/metrics`).catch(() => ''),
      (page) => appliances(page).size >= 3,
    );
    const readyMs = performance.now() - startedAt;
    await until(exporter.stdout, (seen) => seen.includes('Ctrl-C'));
    const statuses = await Promise.all(['/', '/metrics'].map(async (path) => (await fetch(`${url}${path}`)).status));
    const { code, ms } = await exporter.stop('SIGTERM');

    const said = exporter.stdout();
    expect(readyMs).toBeLessThan(10_000);
    expect(statuses).toEqual([200, 200]);
    expect(Math.max(...said.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(said).toContain(`${url}/metrics`);
    // A user who forgot npm's -- gets here too, and npm passed on nothing that would show it.
    expect(said).toContain('./zlb-exporter init 192.0.2.10\n');
    expect(said).not.toContain('\u001b');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });

  it('uses free ports if the usual ones are in use, and prints them', async () => {
    // Another process that keeps a port serves this test equally well.
    await Promise.all([9444, 9445].map((port) => until(() => holdPort(port), Boolean, 10_000).catch(() => undefined)));

    const exporter = startExporter([]);
    const url = await exporter.url();

    expect(exporter.stdout()).toContain(
      'Another program uses :9444 and 127.0.0.1:9445, so the demonstration uses free ports.\n',
    );
    expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
  });

  it('opens no debugger on SIGUSR1, which would expose the keys, and stops with 0 on SIGINT, even twice', async () => {
    const exporter = startExporter([anyPort]);
    await exporter.url();

    exporter.signal('SIGUSR1');
    void exporter.stop('SIGINT');
    const { code } = await exporter.stop('SIGINT');

    expect(code).toBe(0);
    expect(exporter.stderr()).not.toMatch(/debugger|inspector/i);
  });
});

describe('the exporter with a configuration', () => {
  it('polls the appliance of a file, and never prints the key', async () => {
    const { file } = await givenAppliance();
    const exporter = startExporter([`--config.file=${file}`, anyPort, '--log.level=debug', '--log.format=logfmt']);
    const url = await exporter.url();

    await until(
      () => text(`${url}/metrics`),
      (page) => page.includes('zlb_appliance_info{'),
    );
    const pages = await Promise.all(
      ['/metrics', '/probe?target=lb-one', '/sd', '/', '/api/status'].map((path) => text(`${url}${path}`)),
    );
    const health = await runExporter(['healthcheck', `--web.listen-address=${new URL(url).host}`]);
    await exporter.stop('SIGTERM');

    expect(pages[0]).toContain(
      'zlb_appliance_info{appliance="lb-one",hostname="noid-ce-01",product="relianoid",version="7.9.0",edition="community",api_version="4.0.3",kernel="6.18.44-fc-v657",site="here"} 1',
    );
    expect(health).toMatchObject({ code: 0, stdout: 'healthy\n' });
    expect([...pages, exporter.stdout(), exporter.stderr()].join('\n')).not.toContain('canarykey');
    expect(exporter.stderr()).toMatch(/^level=info time=\S+ .*msg=listening$/m);
  });

  it('logs in three lines what runs, and prints nothing to the standard output of a service', async () => {
    const { file } = await givenAppliance();
    const exporter = startExporter([`--config.file=${file}`, anyPort]);
    const url = await exporter.url();
    await until(
      () => exporter.stderr(),
      (log) => log.includes('admin gateway'),
    );
    await exporter.stop('SIGTERM');

    const lines = exporter.stderr().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: 'starting', version: expect.any(String) as string, node: process.versions.node, configuration: file },
      { msg: 'listening', url, appliances: 1 },
      { msg: 'no admin gateway, since the configuration has no admin block' },
      { msg: 'stopping' },
    ]);
    expect(exporter.stdout()).toBe('');
  });

  it.skipIf(!isThere('script'))('prints an introduction on a terminal, without colours for NO_COLOR', async () => {
    const appliance = await givenAppliance();
    const env = {
      ZLB_APPLIANCE_URL: appliance.url,
      ZLB_API_KEY: 'canarykey',
      ZLB_TLS_FINGERPRINT_SHA256: appliance.fingerprintSha256,
    };

    const shown = await shownOnTerminal([anyPort], env);
    const plain = await shownOnTerminal([anyPort], { ...env, NO_COLOR: '1' });

    expect(shown).toMatch(/^zlb-exporter \d\S* watches 1 appliance\.\r$/m);
    expect(shown).toMatch(/^\u001b\[1mOpen\u001b\[22m\r\n {2}http:\/\/127\.0\.0\.1:\d+\/ {2}/m);
    expect(plain).toMatch(/^Open\r\n {2}http/m);
    expect(plain).not.toContain('\u001b');
  });

  it('reports every error with its position and exits with 2', async () => {
    const file = givenConfig(
      'appliances:\n  - name: lb-one\n    url: http://192.0.2.1\n    api_key: canarykey\npoling: {}\n',
    );

    const { code, stderr } = await runExporter([`--config.file=${file}`]);

    expect(code).toBe(2);
    expect(stderr).toMatch(/zlb\.yml:3:10: .*url/);
    expect(stderr).toMatch(/zlb\.yml:5:1: .*polling/);
    expect(stderr).not.toContain('canarykey');
  });
});

it('healthcheck fails when nothing listens', async () => {
  const { code, stderr } = await runExporter(['healthcheck', '--web.listen-address=127.0.0.1:1']);

  expect(code).toBe(1);
  expect(stderr).toContain('does not answer');
});
