import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { missingTools, packageKinds } from '../../../scripts/release/kinds.ts';
import { givenFolder } from '../../support/folder.ts';

function pathWith(...tools: readonly string[]): string {
  const folder = join(givenFolder(), 'bin');
  mkdirSync(folder);
  for (const tool of tools) {
    writeFileSync(join(folder, tool), '');
    chmodSync(join(folder, tool), 0o755);
  }
  return folder;
}

it('names the programs that packages need, what brings them, and the kinds that can be built without', () => {
  const path = pathWith('strip', 'dpkg-deb');

  expect(missingTools(packageKinds([]), path)).toBe(
    'npm run package needs rpmbuild, tar, gzip, which are not installed. On Debian: apt-get install rpm tar gzip; without them: npm run package -- deb',
  );
  expect(missingTools(packageKinds(['deb']), path)).toBeUndefined();
});

it('builds the kinds that are named, and refuses other words', () => {
  expect(packageKinds([])).toEqual(['deb', 'rpm', 'archive']);
  expect(packageKinds(['archive', 'deb'])).toEqual(['deb', 'archive']);
  expect(() => packageKinds(['apk'])).toThrow('there is no package of the kind apk; choose from deb, rpm, archive');
});
