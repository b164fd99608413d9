import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenFolder } from '../support/folder.ts';

/** Runs what the package does at a purge, with programs that change nothing on this machine. */
function purge(userdelEndsWith: number, rmEndsWith = 0) {
  const folder = givenFolder();
  const programs = {
    systemctl: 'exit 0',
    getent: 'exit 0',
    userdel: `exit ${userdelEndsWith}`,
    rm: `echo "$@" >>${folder}/removed\nexit ${rmEndsWith}`,
  };
  for (const [name, does] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${does}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const { status, stderr } = spawnSync('/bin/sh', ['deploy/packages/after-remove.sh', 'purge'], {
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, stderr, removed: readFileSync(join(folder, 'removed'), 'utf8').trim().split(' ') };
}

describe('the purge of the package', () => {
  it('stops with a message if the user cannot be removed because the exporter still runs', () => {
    // userdel(8): 8 is "user currently logged in", or one with a process.
    const { status, stderr } = purge(8);

    expect(status).toBe(0);
    expect(stderr).toContain('userdel zlb-exporter');
  });

  it('stops with a message if something is mounted in its folders', () => {
    const { status, stderr } = purge(0, 1);

    expect(status).toBe(0);
    expect(stderr).toContain('mounted');
  });
});
