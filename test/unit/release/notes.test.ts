import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenFolder } from '../../support/folder.ts';

const changelog =
  '# Changelog\n\n## 1.2.3 (2027-01-31)\n\n- [FEATURE] this.\n\n## 1.2.2 (2027-01-01)\n\n- [BUGFIX] that.\n';

function notes(version: string, ...words: readonly string[]) {
  const folder = givenFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('scripts/release/notes.ts'), ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the notes of a release', () => {
  it('are the lines of the changelog about its version', () => {
    expect(notes('1.2.3', 'v1.2.3')).toEqual({ status: 0, stdout: '- [FEATURE] this.\n', stderr: '' });
  });

  it.each([
    ['1.2.3', 'v1.2.4', 'the tag is v1.2.4, and package.json has 1.2.3'],
    ['1.2.4', 'v1.2.4', 'CHANGELOG.md has no section "## 1.2.4 (DATE)"'],
  ])('end a release of %s as %s: %s', (version, tag, why) => {
    expect(notes(version, tag)).toEqual({ status: 1, stdout: '', stderr: `No release: ${why}.\n` });
  });
});
