import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagedUnit } from '../../../scripts/release/tree.ts';
import { findService, keyRemedy, serviceNotes } from '../../../src/commands/check/service-view.ts';
import { givenFolder } from '../../support/folder.ts';

const configuration = '/etc/zlb-exporter/zlb.yml';

/** A machine with the unit of a package, and these files beside it. */
function givenMachine(files: Readonly<Record<string, string>> = {}): string {
  const root = givenFolder();
  const all = { 'usr/lib/systemd/system/zlb-exporter.service': packagedUnit('abc'), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  // Whatever the umask of this user is.
  spawnSync('chmod', ['-R', 'u=rwX,go=rX', root]);
  return root;
}

/** A machine with the unit of deploy/systemd, whose user exists only while the service runs. */
function givenInstalledMachine(files: Readonly<Record<string, string>> = {}): string {
  const unit = readFileSync('deploy/systemd/zlb-exporter.service', 'utf8');
  return givenMachine({ 'etc/systemd/system/zlb-exporter.service': unit, ...files });
}

async function textsOf(root: string, read: readonly string[], written: readonly string[] = []) {
  const service = await findService(configuration, root);
  if (!service) throw new Error('no service starts with this configuration');
  return (await serviceNotes(service, { read, written })).map(({ text }) => text);
}

it('a key that the unit of the service does not allow is named, with the folders that it allows', async () => {
  const texts = await textsOf(givenMachine(), [
    '/etc/zlb-exporter/keys/lb',
    '/srv/keys/lb-paris',
    '/etc/zlb-exporters',
  ]);

  expect(texts).toHaveLength(2);
  expect(texts[0]).toMatch(
    /^The service cannot read \/srv\/keys\/lb-paris, as its unit allows only .*\/etc\/zlb-exporter.* Move it there, or add --allow-fs-read=\/srv\/keys\/lb-paris to ZLB_NODE_FLAGS in \/etc\/zlb-exporter\/environment\.$/,
  );
});

it('a key in a home or in /tmp is hidden from the service, whatever its flags are', async () => {
  const environment = 'ZLB_NODE_FLAGS=--allow-fs-read=/home --allow-fs-read=/tmp/lb\n';
  const texts = await textsOf(givenMachine({ 'etc/zlb-exporter/environment': environment }), [
    '/home/ann/lb',
    '/tmp/lb',
  ]);

  expect(texts.map((text) => /\((\w+) hides it\)/.exec(text)?.[1])).toEqual(['ProtectHome', 'PrivateTmp']);
});

it.each([
  ['the environment file', 'etc/zlb-exporter/environment', 'ZLB_NODE_FLAGS=--allow-fs-read=/srv/keys\n'],
  ['an addition to the unit', 'etc/systemd/system/zlb-exporter.service.d/keys.conf', '--allow-fs-read=/srv/keys\n'],
])('a folder that %s allows can be read', async (_, path, text) => {
  expect(await textsOf(givenMachine({ [path]: text }), ['/srv/keys/lb-paris'])).toEqual([]);
});

it('a flag in a comment allows nothing', async () => {
  const environment = { 'etc/zlb-exporter/environment': '#ZLB_NODE_FLAGS=--allow-fs-read=/srv/keys\n' };

  expect(await textsOf(givenMachine(environment), ['/srv/keys/lb-paris'])).toHaveLength(1);
});

it('flags in an environment file that is not for this user are not known', async () => {
  // Nobody can read a folder as a file, not even root.
  const root = givenMachine({ 'etc/zlb-exporter/environment/file': '' });

  expect(await textsOf(root, ['/etc/zlb-exporter/keys/lb', '/srv/keys/lb', '/home/ann/lb'])).toEqual([
    'It is not known whether the service can read /srv/keys/lb: this user cannot read /etc/zlb-exporter/environment. Run check as root.',
    expect.stringContaining('(ProtectHome hides it)'),
  ]);
});

it('a journal outside the state of the service cannot be written', async () => {
  expect(await textsOf(givenMachine(), [], ['/var/lib/zlb-exporter/journal.db', '/srv/journal.db'])).toEqual([
    expect.stringMatching(/^The service cannot write \/srv\/journal\.db, .*, and ReadWritePaths= to the unit\.$/),
  ]);
});

const inEnvironment = { 'etc/zlb-exporter/environment': 'ZLB_NODE_FLAGS=--allow-fs-read=/srv/keys\n' };
const moved = 'run install.sh again, and name it /run/credentials/zlb-exporter.service/lb-paris.';

it.each([
  ['/srv/keys/lb-paris', 0o600, `Move it to /etc/zlb-exporter/keys, ${moved}`],
  ['/etc/zlb-exporter/keys/lb-paris', 0o640, `R${moved.slice(1)}`],
])(
  'a user that exists only while the service runs cannot read %s which is not for everybody',
  async (path, mode, remedy) => {
    const root = givenInstalledMachine({ ...inEnvironment, [path.slice(1)]: 'key' });
    chmodSync(join(root, path), mode);

    expect(await textsOf(root, [path])).toEqual([
      `The service cannot read ${path}: its user has no right to read it. ${remedy}`,
    ]);
  },
);

it('what everybody may read, and what systemd hands over, is for such a user, too', async () => {
  const root = givenInstalledMachine({
    ...inEnvironment,
    'srv/keys/ca.pem': 'ca',
    'run/credentials/zlb-exporter.service/lb-paris': 'key',
  });
  chmodSync(join(root, 'run/credentials/zlb-exporter.service/lb-paris'), 0o400);

  expect(await textsOf(root, ['/srv/keys/ca.pem', '/run/credentials/zlb-exporter.service/lb-paris'])).toEqual([]);
});

it.each(['700', '600', '644'])(
  'a key in a folder of mode %s, which the service cannot enter, is named',
  async (mode) => {
    const root = givenInstalledMachine({ ...inEnvironment, 'srv/keys/lb-paris': 'key' });
    chmodSync(join(root, 'srv/keys'), Number.parseInt(mode, 8));

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual([
      `The service cannot read /srv/keys/lb-paris: its user has no right to enter /srv/keys. Move it to /etc/zlb-exporter/keys, ${moved}`,
    ]);
  },
);

it.each([
  [
    'the configuration itself',
    'etc/zlb-exporter/zlb.yml',
    'etc/zlb-exporter/zlb.yml',
    'chmod o+r /etc/zlb-exporter/zlb.yml',
  ],
  ['a folder', 'srv/keys/certificates/shop.pem', 'srv/keys/certificates', 'chmod o+rx /srv/keys/certificates'],
])('%s that is for its owner alone is opened where it is', async (_, file, closed, command) => {
  const root = givenInstalledMachine({ ...inEnvironment, [file]: 'text' });
  chmodSync(join(root, closed), 0o700);

  expect(await textsOf(root, ['/srv/keys/certificates'])).toEqual([
    `The service cannot read /${closed}: its user has no right to read it. Let everybody read it: ${command}.`,
  ]);
});

describe('the user of a package', () => {
  const { uid, gid } = statSync('.');
  const accounts = (user: number, group: number, members = '') => ({
    ...inEnvironment,
    'etc/passwd': `root:x:0:0::/root:/bin/sh\nzlb-exporter:x:${user}:${group}::/:/usr/sbin/nologin\n`,
    'etc/group': `root:x:0:\nkeys:x:${gid}:${members}\n`,
    'srv/keys/lb-paris': 'key',
  });

  it.each([
    ['its own file', accounts(uid, 4_242), 0o400, true],
    ['its own file, which it may not read', accounts(uid, 4_242), 0o044, false],
    ['a file of its group', accounts(4_242, gid), 0o040, true],
    ['a file of another group of it', accounts(4_242, 4_242, 'ann,zlb-exporter'), 0o040, true],
    ['a file of a group of others', accounts(4_242, 4_242, 'ann'), 0o040, false],
    ['a file of root', accounts(4_242, 4_242), 0o600, false],
  ])('reads %s: %#', async (_, files, mode, reads) => {
    const root = givenMachine(files);
    chmodSync(join(root, 'srv/keys/lb-paris'), mode);

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual(
      reads
        ? []
        : [
            'The service cannot read /srv/keys/lb-paris: its user has no right to read it. Give it to the service alone: chown zlb-exporter /srv/keys/lb-paris && chmod 600 /srv/keys/lb-paris.',
          ],
    );
  });

  it('is sent to the folder of keys where it cannot enter another', async () => {
    const root = givenMachine(accounts(4_242, 4_242));
    chmodSync(join(root, 'srv/keys'), 0o700);

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual([
      'The service cannot read /srv/keys/lb-paris: its user has no right to enter /srv/keys. Move it to /etc/zlb-exporter/keys.',
    ]);
  });

  it('may enter a folder whose names it cannot list', async () => {
    const root = givenMachine(accounts(uid, 4_242));
    chmodSync(join(root, 'srv/keys'), 0o311);

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual([]);
  });

  it.each(['zlb-monitor', 'root'])('is another one where an addition to the unit names %s', async (name) => {
    const added = { 'etc/systemd/system/zlb-exporter.service.d/user.conf': `User=${name}\n` };
    const root = givenMachine({ ...accounts(4_242, 4_242), ...added });
    chmodSync(join(root, 'srv/keys/lb-paris'), 0);

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual([]);
  });

  it('is not asked for where nobody knows it', async () => {
    const root = givenMachine({ ...inEnvironment, 'srv/keys/lb-paris': 'key' });
    chmodSync(join(root, 'srv/keys/lb-paris'), 0o600);

    expect(await textsOf(root, ['/srv/keys/lb-paris'])).toEqual([]);
  });
});

it('a key for everybody is given to the exporter in the way of its service', async () => {
  const remedies = [
    givenFolder(),
    givenMachine({ 'etc/passwd': 'zlb-exporter:x:4242:4242::/:/bin/false\n' }),
    givenInstalledMachine(),
  ].map(async (root) => keyRemedy('/srv/lb-paris', await findService(configuration, root)));

  expect(await Promise.all(remedies)).toEqual([
    'Give it to the exporter alone: chmod 600 /srv/lb-paris',
    'Give it to the service alone: chown zlb-exporter /srv/lb-paris && chmod 600 /srv/lb-paris',
    `Move it to /etc/zlb-exporter/keys, ${moved.slice(0, -1)}`,
  ]);
});

it('a configuration that no unit starts with has no service', async () => {
  expect(await findService('/home/ann/zlb.yml', givenMachine())).toBeUndefined();
  expect(await findService(configuration, givenFolder())).toBeUndefined();
});
