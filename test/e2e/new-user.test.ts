import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectOutput } from '../support/process.ts';
import { isThere } from '../support/programs.ts';

const minutes = 8;

/** Whether this is a clone with its history, and the registry that npm uses answers at all. */
async function canBegin(): Promise<boolean> {
  const isClone = spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD'], { stdio: 'ignore' }).status === 0;
  const registry = spawnSync('npm', ['config', 'get', 'registry']).stdout.toString().trim();
  const answers = await fetch(registry, { signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    () => false,
  );
  if (!isClone) console.warn('NOT RUN: the path of a new user begins with a clone, and this is none');
  if (!answers) console.warn('NOT RUN: the path of a new user installs packages, and the registry does not answer');
  return isClone && answers;
}

const programs = [isThere('git'), isThere('prometheus'), isThere('prometheus-alertmanager')];
const possible = !programs.includes(false) && (await canBegin());
if (!possible && process.env.CI) throw new Error('With CI set, the path of a new user has to be walked.');

describe.skipIf(!possible)('a new user', () => {
  it(
    'comes from an empty folder to an alert that fires, and by the command that is printed to its end',
    async () => {
      const child = spawn(process.execPath, ['scripts/new-user.ts'], { stdio: ['ignore', 'pipe', 'pipe'] });
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
