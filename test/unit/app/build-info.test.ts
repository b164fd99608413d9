import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitRevision, readBuildInfo } from '../../../src/app/build-info.ts';
import { givenFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';

function git(folder: string, ...words: readonly string[]): string {
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, ...env } = process.env;
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  return execFileSync('git', [...identity, ...words], { cwd: folder, env, encoding: 'utf8' }).trim();
}

function givenClone(): string {
  const folder = givenFolder();
  git(folder, 'init', '--quiet', '--initial-branch=feature/a');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message=one');
  return folder;
}

describe.runIf(isThere('git'))('the revision of a clone', () => {
  it('is the commit of its branch, of a packed branch, of a tag and of a worktree', () => {
    const clone = givenClone();
    const first = git(clone, 'rev-parse', 'HEAD');

    const ofBranch = gitRevision(clone);
    git(clone, 'pack-refs', '--all');
    const ofPackedBranch = gitRevision(clone);
    git(clone, 'worktree', 'add', '--quiet', '-b', 'other', join(clone, 'tree'));
    git(join(clone, 'tree'), 'commit', '--quiet', '--allow-empty', '--message=two');
    const ofWorktree = gitRevision(join(clone, 'tree'));
    git(clone, 'checkout', '--quiet', '--detach');

    expect([ofBranch, ofPackedBranch, gitRevision(clone)]).toEqual([first, first, first]);
    expect(ofWorktree).toBe(git(join(clone, 'tree'), 'rev-parse', 'HEAD'));
    expect(ofWorktree).not.toBe(first);
  });

  it('is unknown before the first commit, in another folder and behind a broken pointer', () => {
    const empty = givenFolder();
    git(empty, 'init', '--quiet');
    const broken = givenFolder();
    writeFileSync(join(broken, '.git'), 'gitdir: /nonexistent\n');

    expect([empty, givenFolder(), broken].map(gitRevision)).toEqual([undefined, undefined, undefined]);
  });

  it('is the one recorded by the build, if there is one', () => {
    expect(readBuildInfo({ ZLB_EXPORTER_REVISION: 'abc' }).revision).toBe('abc');
    expect(readBuildInfo({}).revision).toBe(gitRevision('.') ?? 'unknown');
  });
});
