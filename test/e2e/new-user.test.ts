import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectOutput } from '../support/process.ts';
import { isThere } from '../support/programs.ts';

const minutes = 8;

/** Returns the reason for which the path cannot be tested here; undefined if it can. */
async function obstacle(): Promise<string | undefined> {
  const programs = ['git', 'prometheus', 'prometheus-alertmanager'].filter((program) => !isThere(program));
  if (programs.length > 0) return `it needs ${programs.join(' and ')}`;
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' });
  const answers = await fetch(stdout.trim(), { signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    () => false,
  );
  return answers ? undefined : 'it installs packages, and the registry of npm does not answer';
}

const isClone = spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD'], { stdio: 'ignore' }).status === 0;
const hindered = isClone ? await obstacle() : 'it begins with a clone, and these files are none';
if (hindered !== undefined) {
  const message = `NOT RUN: the path of a new user: ${hindered}`;
  if (process.env.CI && isClone) throw new Error(message);
  console.warn(message);
}

describe.skipIf(hindered !== undefined)('a new user', () => {
  it(
    'comes from an empty folder to an alert that fires, and by the command that is printed to its end',
    async () => {
      const child = spawn(process.execPath, ['scripts/new-user.ts'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGTERM'));
      const { stdout, stderr } = collectOutput(child);
      const [code] = (await once(child, 'close')) as [number | null];
      console.log(stdout());

      expect(stderr()).toBe('');
      expect(code).toBe(0);
      for (const step of ['npm start', '/metrics', '/ has', 'npm run stack', 'fires', 'restart-farm', 'resolved'])
        expect(stdout()).toContain(step);
    },
    minutes * 60_000,
  );
});
