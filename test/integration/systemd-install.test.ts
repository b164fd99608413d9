import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isThere } from '../support/programs.ts';

const script = 'deploy/systemd/install.sh';
const key = 'canary-key-of-an-appliance';
/** Nobody in particular, who can write to his own folder alone; only root can act as somebody else. */
const stranger = process.getuid?.() === 0 ? 65_534 : undefined;

/** A clone as the script finds it, with a program and packages that are hardly there, since copying takes its time. */
let clone: string;

beforeAll(() => {
  clone = givenClone();
  mkdirSync(join(clone, 'dist'));
  writeFileSync(join(clone, 'dist/main.js'), '');
  const packages = {
    'node_modules/runs': {},
    'node_modules/runs/node_modules/inside': {},
    'node_modules/@scope/runs': {},
    'node_modules/tests': { dev: true },
    'node_modules/@other-platform/runs': { optional: true },
  };
  for (const folder of Object.keys(packages).filter((each) => !each.includes('other-platform'))) {
    mkdirSync(join(clone, folder), { recursive: true });
    writeFileSync(join(clone, folder, 'index.js'), '', { mode: 0o600 });
  }
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  spawnSync('chown', ['-R', `${stranger ?? process.getuid?.()}`, clone]);
});

afterAll(() => rmSync(clone, { recursive: true }));

function givenClone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-clone-'));
  chmodSync(folder, 0o755);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'deploy/systemd'])
    cpSync(name, join(folder, name), { recursive: true });
  return folder;
}

function givenDestination(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-destination-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  spawnSync('chown', [`${stranger ?? process.getuid?.()}`, folder]);
  return folder;
}

interface Installation {
  /** The clone. */
  readonly from: string;
  readonly destination?: string | undefined;
  readonly args?: readonly string[];
  /** Where programs are looked for. */
  readonly path?: string | undefined;
}

/** Runs the script of a clone, with a Node.js that is new enough unless another is named. */
function runScript({ from, destination, args = [], path = process.env['PATH'] }: Installation) {
  const node = args.some((arg) => arg.startsWith('--node=')) ? [] : [`--node=${process.execPath}`];
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(from, script), ...node, ...args], {
    encoding: 'utf8',
    env: { PATH: path, ...(destination === undefined ? {} : { DESTDIR: destination }) },
    uid: stranger,
    gid: stranger,
  });
  expect(stdout + stderr).not.toContain(key);
  return { status, stdout, stderr };
}

const install = (destination: string | undefined, ...args: readonly string[]) =>
  runScript({ from: clone, destination, args });

/** A folder with these programs of the machine and no others. */
function givenPrograms(names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  for (const name of names)
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(folder, name));
  return folder;
}

function givenKey(destination: string, name: string): void {
  const file = join(destination, 'etc/zlb-exporter/keys', name);
  writeFileSync(file, key, { mode: 0o600 });
  spawnSync('chown', [`${stranger ?? process.getuid?.()}`, file]);
}

/** Everything below a folder with its mode, but for the program, of which there is much. */
function modesBelow(folder: string): Readonly<Record<string, string>> {
  const paths = globSync(['etc/**', 'opt/zlb-exporter'], { cwd: folder });
  return Object.fromEntries(
    paths.sort().map((path) => [path, (statSync(join(folder, path)).mode & 0o777).toString(8)]),
  );
}

describe('deploy/systemd/install.sh', () => {
  it('is a script that any shell can read', () => {
    for (const shell of ['sh', 'dash', 'bash'])
      if (isThere(shell)) expect(spawnSync(shell, ['-n', script], { encoding: 'utf8' })).toMatchObject({ status: 0 });
    expect(statSync(script).mode & 0o111).toBe(0o111);
  });

  it.skipIf(!isThere('shellcheck'))('is one that shellcheck has nothing against', () => {
    expect(spawnSync('shellcheck', [script], { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' });
  });

  it('installs a program that runs, without the packages that only build and test', () => {
    const destination = givenDestination();
    const built = givenClone();
    onTestFinished(() => rmSync(built, { recursive: true }));
    symlinkSync(resolve('node_modules'), join(built, 'node_modules'));
    spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', join(built, 'dist')]);

    expect(runScript({ from: built, destination })).toMatchObject({ status: 0, stderr: '' });

    const program = join(destination, 'opt/zlb-exporter');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const help = spawnSync(process.execPath, [join(program, 'dist/main.js'), '--version'], { encoding: 'utf8' });
    expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(version) as string });
    expect(readdirSync(join(program, 'node_modules'))).toContain('fastify');
    expect(readdirSync(join(program, 'node_modules'))).not.toContain('vitest');
  }, 120_000);

  it('lets everybody read the program, its owner alone write it, and nobody else the keys', () => {
    const destination = givenDestination();

    expect(install(destination)).toMatchObject({ status: 0, stderr: '' });

    const program = join(destination, 'opt/zlb-exporter');
    const files = globSync('**', { cwd: program }).sort();
    expect(files).toContain('node_modules/runs/node_modules/inside/index.js');
    expect(files).toContain('node_modules/@scope/runs/index.js');
    expect(files.filter((file) => /tests|other-platform/.test(file))).toEqual([]);
    const wrong = files.filter((file) => {
      const { mode } = statSync(join(program, file));
      return (mode & 0o044) !== 0o044 || (mode & 0o022) !== 0;
    });
    expect(wrong).toEqual([]);
    expect(modesBelow(destination)).toEqual({
      etc: '755',
      'etc/systemd': '755',
      'etc/systemd/system': '755',
      'etc/systemd/system/zlb-exporter.service': '644',
      'etc/systemd/system/zlb-exporter.service.d': '755',
      'etc/systemd/system/zlb-exporter.service.d/keys.conf': '644',
      'etc/zlb-exporter': '755',
      'etc/zlb-exporter/environment': '600',
      'etc/zlb-exporter/keys': '700',
      'opt/zlb-exporter': '755',
    });
  });

  it('takes all packages of an unpacked package, which has those alone that run', () => {
    const unpacked = givenClone();
    onTestFinished(() => rmSync(unpacked, { recursive: true }));
    for (const folder of ['dist', 'node_modules/runs', 'node_modules/@scope/runs', 'node_modules/.bin'])
      mkdirSync(join(unpacked, folder), { recursive: true });
    writeFileSync(join(unpacked, 'dist/main.js'), '');
    const destination = givenDestination();

    expect(runScript({ from: unpacked, destination })).toMatchObject({ status: 0, stderr: '' });

    const program = join(destination, 'opt/zlb-exporter');
    expect(globSync('node_modules/**', { cwd: program }).sort()).toEqual([
      'node_modules',
      'node_modules/@scope',
      'node_modules/@scope/runs',
      'node_modules/runs',
    ]);
  });

  it('changes nothing when it is run again, and keeps configuration, keys and environment', () => {
    const destination = givenDestination();
    install(destination);
    const yours = { 'zlb.yml': 'appliances: []\n', environment: 'ZLB_EXPORTER_FLAGS=--log.level=debug\n' };
    for (const [name, text] of Object.entries(yours)) writeFileSync(join(destination, 'etc/zlb-exporter', name), text);
    givenKey(destination, 'lb-paris');
    install(destination);
    const before = modesBelow(destination);

    expect(install(destination)).toMatchObject({ status: 0, stderr: '' });

    expect(modesBelow(destination)).toEqual(before);
    for (const [name, text] of Object.entries(yours))
      expect(readFileSync(join(destination, 'etc/zlb-exporter', name), 'utf8')).toBe(text);
    expect(readFileSync(join(destination, 'etc/zlb-exporter/keys/lb-paris'), 'utf8')).toBe(key);
    expect(readdirSync(join(destination, 'opt'))).toEqual(['zlb-exporter']);
  });

  it('names each key to systemd, and refuses a name that systemd would not take', () => {
    const destination = givenDestination();
    install(destination);
    givenKey(destination, 'lb-paris');
    givenKey(destination, 'lb-madrid');

    install(destination);

    const conf = readFileSync(join(destination, 'etc/systemd/system/zlb-exporter.service.d/keys.conf'), 'utf8');
    expect(conf.split('\n').slice(1)).toEqual([
      '[Service]',
      'LoadCredential=lb-madrid:/etc/zlb-exporter/keys/lb-madrid',
      'LoadCredential=lb-paris:/etc/zlb-exporter/keys/lb-paris',
      '',
    ]);
    givenKey(destination, 'of lb:paris');
    expect(install(destination)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("a key's file is named with letters, digits and . _ - alone") as string,
    });
  });

  it('closes keys that others could read', () => {
    const destination = givenDestination();
    install(destination);
    givenKey(destination, 'lb-paris');
    chmodSync(join(destination, 'etc/zlb-exporter/keys/lb-paris'), 0o644);

    install(destination);

    expect(modesBelow(destination)).toMatchObject({ 'etc/zlb-exporter/keys/lb-paris': '600' });
  });

  it('finds out that the service could not read its configuration', () => {
    const destination = givenDestination();
    install(destination);
    const file = join(destination, 'etc/zlb-exporter/zlb.yml');
    writeFileSync(file, 'appliances: []\n', { mode: 0o600 });

    expect(install(destination)).toEqual({
      status: 1,
      stdout: '',
      stderr: `install.sh: ${file} cannot be read by the service, which has a user of its own; it holds no key, so: chmod 644 ${file}\n`,
    });
  });

  it('removes the program and the service, and leaves what is not its own', () => {
    const destination = givenDestination();
    install(destination);
    givenKey(destination, 'lb-paris');

    const { status, stdout } = install(destination, '--uninstall');

    expect(status).toBe(0);
    expect(stdout).toContain('What is yours is still there: /etc/zlb-exporter');
    expect(globSync('{opt,etc/systemd/system}/*', { cwd: destination })).toEqual([]);
    expect(readdirSync(join(destination, 'etc/zlb-exporter')).sort()).toEqual(['environment', 'keys']);
    expect(install(destination, '--uninstall')).toMatchObject({ status: 0 });
  });

  it('says what it would do, in the order in which it would, and does nothing', () => {
    const destination = givenDestination();

    const below = install(destination, '--dry-run');
    const here = install(undefined, '--dry-run');

    expect(readdirSync(destination)).toEqual([]);
    expect(below.stdout).not.toContain('systemctl');
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
    ['who is not root', 'systemd 252 (252.39)', 'only root can install a service; run it with sudo, or see what'],
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
  ])('refuses %s in one sentence, before it touches anything', (_, systemd, message) => {
    const programs = givenPrograms(['dirname', 'readlink', 'sed', 'id']);
    if (systemd !== undefined)
      writeFileSync(join(programs, 'systemctl'), `#!/bin/sh\necho '${systemd}'\n`, { mode: 0o755 });

    const { status, stdout, stderr } = runScript({ from: clone, path: programs });

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`install.sh: ${message}`);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it.each([
    ['an older Node.js', 'echo 20.20.2', 'Node.js 24 or newer is needed, NODE is 20.20.2; install a newer one'],
    ['one that does not run', 'exit 1', 'NODE does not run'],
    ['none', undefined, 'NODE is not there; install Node.js 24 or newer, or name it with --node=PATH'],
  ])('refuses %s in one sentence', (_, body, message) => {
    const destination = givenDestination();
    const node = join(mkdtempSync(join(tmpdir(), 'zlb-node-')), 'node');
    onTestFinished(() => rmSync(join(node, '..'), { recursive: true }));
    chmodSync(join(node, '..'), 0o755);
    if (body !== undefined) writeFileSync(node, `#!/bin/sh\n${body}\n`, { mode: 0o755 });

    const { status, stdout, stderr } = install(destination, `--node=${node}`);

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`install.sh: ${message.replace('NODE', node)}`);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect(readdirSync(destination)).toEqual([]);
  });

  it('lets the unit run the Node.js that a link leads to', () => {
    const destination = givenDestination();
    const link = join(givenPrograms([]), 'node');
    symlinkSync(process.execPath, link);

    install(destination, `--node=${link}`);

    const unit = readFileSync(join(destination, 'etc/systemd/system/zlb-exporter.service'), 'utf8');
    expect(unit).toContain(`\nExecStart=${link} --max-semi-space-size`);
    const folders = /^ExecPaths=(.*)$/m.exec(unit)?.[1]?.split(' ');
    expect(folders?.some((folder) => realpathSync(process.execPath).startsWith(`${folder}/`))).toBe(true);
    expect(install(destination, '--node=bin/node').stderr).toBe(
      'install.sh: --node=bin/node has to begin with /, as systemd wants it\n',
    );
  });

  it('refuses a clone that was not built, and says what to do', () => {
    const bare = mkdtempSync(join(tmpdir(), 'zlb-bare-'));
    onTestFinished(() => rmSync(bare, { recursive: true }));
    mkdirSync(join(bare, 'deploy'));
    cpSync('deploy/systemd', join(bare, 'deploy/systemd'), { recursive: true });

    const { status, stderr } = spawnSync(join(bare, script), [`--node=${process.execPath}`, '--dry-run'], {
      encoding: 'utf8',
    });

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `install.sh: ${bare}/dist is not there; run 'npm ci && npm run build' in a clone first\n`,
    });
  });

  it.skipIf(!isThere('systemd-analyze'))('writes a unit and keys that systemd has nothing against', () => {
    const destination = givenDestination();
    install(destination);
    givenKey(destination, 'lb-paris');
    install(destination);
    const unit = join(destination, 'etc/systemd/system/zlb-exporter.service');

    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });

    expect(readFileSync(unit, 'utf8')).toContain(`ExecStart=${process.execPath} --max-semi-space-size`);
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});
