import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { collectOutput } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const hasNpm = isThere('npm');

/** Runs npm in this clone until it ends, or until what it started serves. */
async function runNpm(words: readonly string[]) {
  const child = spawn('npm', words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  onTestFinished(stop);
  const exited = once(child, 'close') as Promise<[number | null]>;
  const output = collectOutput(child);
  await until(
    () => output.stdout(),
    (seen) => seen.includes('http') || child.exitCode !== null,
    25_000,
  );
  stop();
  const [code] = await exited;
  return { code, stdout: output.stdout(), stderr: output.stderr() };
}

describe.runIf(hasNpm)('a flag before the -- of npm', () => {
  it.each([
    [['start', '--config.file=zlb.yml'], 'npm start -- --config.file=zlb.yml'],
    [['start', '--silent', '--config.file', 'zlb.yml'], 'npm start -- --config.file=zlb.yml'],
    [
      ['start', 'check', '--config.file=zlb.yml', '--log.level=debug'],
      'npm start -- check --config.file=zlb.yml --log.level=debug',
    ],
    [
      ['start', 'admin', 'lb-1', 'actOnFarm', '--dry-run', '--reason=power cut'],
      "npm start -- admin lb-1 actOnFarm --reason='power cut' --dry-run",
    ],
    [['run', 'simulate', '--web.enable-lifecycle'], 'npm run simulate -- --web.enable-lifecycle'],
    [['run', 'stack', '--prometheus.listen-address=:1'], 'npm run stack -- --prometheus.listen-address=:1'],
  ])('ends npm %j with 2 and the right command line', async (words, line) => {
    const { code, stderr, stdout } = await runNpm(words);

    expect(stderr.split('\n').map((each) => each.trim())).toContain(line);
    expect(stderr).toMatch(/npm took .+ for itself/);
    expect(stdout).not.toContain('http');
    expect(code).toBe(2);
  });
});

describe('npm start', () => {
  it.each([
    ['v20.20.2', 1],
    ['v24.21.0', 0],
    ['v100.0.0', 0],
  ])('says which Node.js it needs when it finds %s', (version, status) => {
    const folder = givenFolder();
    writeFileSync(join(folder, 'node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}` };

    const started = spawnSync('sh', ['-c', '. scripts/before-start.sh; exit 0'], { env, encoding: 'utf8' });

    expect(started.status).toBe(status);
    expect(started.stderr).toBe(
      status === 0
        ? ''
        : `zlb-exporter needs Node.js 24 or newer and found ${version}; install Node.js 24, or run ` +
            'npm ci --ignore-scripts=false, which brings it along\n',
    );
  });
});
