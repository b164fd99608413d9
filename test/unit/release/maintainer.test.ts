import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('a package for a release is not built while package.json has a placeholder for its owner', () => {
  const words = ['scripts/release/package.ts', '--release'];

  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^The maintainer of this package is OWNER <.+>: replace OWNER in package\.json\. Nothing was built\n$/,
  );
});
