import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../../support/folder.ts';

/** Runs the check in a folder, with a Node.js of the given version, or with none. */
function check(version?: string) {
  const folder = givenFolder();
  symlinkSync('/bin/sh', join(folder, 'sh'));
  if (version) writeFileSync(join(folder, 'node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  const words = ['-c', `. ${resolve('scripts/before.sh')}`];
  const { status, stderr } = spawnSync('/bin/sh', words, { cwd: folder, encoding: 'utf8', env: { PATH: folder } });
  return { status, stderr };
}

it('a script in a clone without packages says in one sentence what to run first', () => {
  const { status, stderr } = check('v24.1.0');

  expect(status).toBe(1);
  expect(stderr).toMatch(/^the packages that zlb-exporter needs are not installed; run npm ci in .+ first\n$/);
});

it.each(['v18.20.4', 'v8.17.0', 'v23.11.1', 'none'])(
  'a script on Node.js %s says in one sentence what it needs and what it found',
  (version) => {
    const { status, stderr } = check(version === 'none' ? undefined : version);

    expect(status).toBe(1);
    expect(stderr).toBe(
      `zlb-exporter needs Node.js 24 or newer and found ${version}; install Node.js 24, or run ` +
        'npm ci --ignore-scripts=false, which brings it along\n',
    );
  },
);

it('every script of package.json runs the check first, except the one that completes npm ci', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const others = Object.entries(scripts).filter(([, script]) => !script.startsWith('. scripts/before.sh; '));

  expect(others).toEqual([['prepare', 'scripts/after-install.sh']]);
});
