import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenBareClone, givenClone, givenDestination, givenPrograms, runScript } from './given-installation.ts';

/** A script in the place of a program. */
function standIn(folder: string, name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return file;
}

describe('deploy/systemd/install.sh, before it changes anything,', () => {
  it('prints its steps in the order in which it would take them', () => {
    const clone = givenClone();
    const { install, folder } = givenDestination(clone);

    const elsewhere = install('--dry-run');
    const here = runScript({ clone, args: ['--dry-run'] });

    expect(readdirSync(folder)).toEqual([]);
    expect(elsewhere.stdout).not.toContain('systemctl');
    expect(here).toMatchObject({ status: 0, stderr: '' });
    const steps = [
      `would run: cp -R ${clone}/dist /opt/zlb-exporter.new/`,
      'would run: mv /opt/zlb-exporter.new /opt/zlb-exporter',
      'would run: install -d -m 700 /etc/zlb-exporter/keys',
      'would write: /etc/systemd/system/zlb-exporter.service (mode 644)',
      'would run: systemctl daemon-reload',
    ];
    expect(here.stdout.split('\n').filter((line) => steps.includes(line))).toEqual(steps);
    expect(here.stdout).toMatch(/\nNothing was done: this was a dry run\.\n$/);
    expect(existsSync('/opt/zlb-exporter.new')).toBe(false);
  });

  it.each([
    [
      'a user who is not root',
      'systemd 252 (252.39)',
      'only root can install a service; run it with sudo, or see what',
    ],
    [
      'an older systemd',
      'systemd 245 (245.4)',
      'systemd 247 or newer is needed to hand over keys (LoadCredential=), this is 245',
    ],
    [
      'a machine without systemd',
      undefined,
      'there is no systemctl: this machine does not run systemd; deploy/README.md',
    ],
  ])('refuses %s in one sentence', (_, systemd, message) => {
    const programs = givenPrograms(['dirname', 'readlink', 'sed', 'id']);
    if (systemd !== undefined) standIn(programs, 'systemctl', `echo '${systemd}'`);

    const { status, stdout, stderr } = runScript({ clone: givenClone(), path: programs });

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`install.sh: ${message}`);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it.each([
    ['an older Node.js', 'echo 20.20.2', 'Node.js 24 or newer is needed, NODE is 20.20.2; install a newer one'],
    ['a Node.js that does not run', 'exit 1', 'NODE does not run'],
    ['a missing Node.js', undefined, 'NODE is not there; install Node.js 24 or newer, or name it with --node=PATH'],
  ])('refuses %s in one sentence', (_, body, message) => {
    const { install, folder } = givenDestination();
    const programs = givenPrograms([]);
    const node = body === undefined ? join(programs, 'node') : standIn(programs, 'node', body);

    const { status, stdout, stderr } = install(`--node=${node}`);

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`install.sh: ${message.replace('NODE', node)}`);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses a Node.js that systemd would not find', () => {
    expect(givenDestination().install('--node=bin/node')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'install.sh: --node=bin/node has to begin with /, as systemd wants it\n',
    });
  });

  it('refuses a clone that was not built, and says what to do', () => {
    const clone = givenBareClone();

    expect(givenDestination(clone).install()).toEqual({
      status: 1,
      stdout: '',
      stderr: `install.sh: ${clone}/dist is not there; run 'npm ci && npm run build' in a clone first\n`,
    });
  });

  it('refuses a configuration that the service could not read', () => {
    const { install, pathOf } = givenDestination();
    install();
    const file = pathOf('etc/zlb-exporter/zlb.yml');
    writeFileSync(file, 'appliances: []\n', { mode: 0o600 });

    expect(install()).toEqual({
      status: 1,
      stdout: '',
      stderr: `install.sh: ${file} cannot be read by the service, which has a user of its own; it holds no key, so: chmod 644 ${file}\n`,
    });
  });

  it('refuses a key under a name that systemd would not accept', () => {
    const { install, giveKey } = givenDestination();
    install();
    giveKey('of lb:paris');

    const { status, stderr } = install();

    expect(status).toBe(1);
    expect(stderr).toContain("a key's file is named with letters, digits and . _ - alone");
  });

  it('refuses an unknown argument, and lists the valid ones', () => {
    const { status, stderr } = givenDestination().install('--force');

    expect(status).toBe(1);
    expect(stderr).toMatch(/^Usage: .+--dry-run.+install\.sh: --force is not known\n$/s);
  });
});
