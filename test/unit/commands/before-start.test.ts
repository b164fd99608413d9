import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../../support/folder.ts';

it('npm start in a clone without packages says in one sentence what to run first', () => {
  const folder = givenFolder();

  const { status, stderr } = spawnSync('sh', ['-c', `. ${resolve('scripts/before-start.sh')}`], {
    cwd: folder,
    encoding: 'utf8',
  });

  expect(status).toBe(1);
  expect(stderr).toMatch(/^the packages that zlb-exporter needs are not installed; run npm ci in .+ first\n$/);
});
