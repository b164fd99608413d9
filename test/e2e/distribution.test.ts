import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMachine } from '../docs/machine.ts';
import { failuresOfNamed } from '../docs/try-commands.ts';
import { canMakeRoots, type CleanRoot, makeCleanRoot } from '../support/clean-root.ts';
import { copyClone } from '../support/packages.ts';
import { collectOutput } from '../support/process.ts';
import { isThere } from '../support/programs.ts';

const apiKey = 'canary-key-of-a-package';
const configuration = '/etc/zlb-exporter/zlb.yml';
const audit = '/var/lib/zlb-exporter/journal.db';
const tools = ['dpkg-deb', 'nfpm', 'rpm', 'lintian', 'debootstrap', 'strip'].map(isThere);
const canRun = [...tools, canMakeRoots()].every(Boolean);

/** Builds the package again with a lower version. */
function olderThan(deb: string, folder: string): string {
  const tree = join(folder, 'older');
  execFileSync('dpkg-deb', ['-R', deb, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 0.0.1'));
  execFileSync('dpkg-deb', ['-b', '-Znone', '--root-owner-group', tree, `${tree}.deb`]);
  return `${tree}.deb`;
}

/** Builds the packages of a copy of this clone. */
async function buildPackages(folder: string): Promise<Readonly<Record<'deb' | 'rpm' | 'archive', string>>> {
  const clone = join(folder, 'clone');
  copyClone(clone);
  const env = { ...process.env, PATH: `${resolve('node_modules/.bin')}:${process.env['PATH']}` };
  const child = spawn('npm', ['run', 'package'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`npm run package ended with ${code}: ${output.stdout()}${output.stderr()}`);
  const built = (pattern: string): string => globSync(join(clone, 'release', pattern))[0] ?? '';
  return { deb: built('*.deb'), rpm: built('*.rpm'), archive: built('*.tar.gz') };
}

describe.skipIf(!canRun)('the packages in a clean Debian', () => {
  let folder: string;
  let root: CleanRoot;
  let built: Awaited<ReturnType<typeof buildPackages>>;
  let complaints: Promise<string>;
  const table: string[][] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'zlb-distribution-'));
    [root, built] = await Promise.all([makeCleanRoot(join(folder, 'root')), buildPackages(folder)]);
    complaints = lint(built.deb, folder);
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const inRoot = (path: string): string => join(root.folder, path);
  const digest = (path: string): string =>
    existsSync(inRoot(path))
      ? createHash('sha256')
          .update(readFileSync(inRoot(path)))
          .digest('hex')
      : '';
  const hasUser = (): boolean => root.run('getent', ['passwd', 'zlb-exporter']).code === 0;
  const kept = () => [configuration, '/etc/zlb-exporter/keys/lb-paris.key', audit].map(digest);

  function install(file: string) {
    cpSync(file, inRoot('/tmp/package.deb'));
    const { code, stdout, stderr } = root.run('dpkg', ['-i', '/tmp/package.deb']);
    expect(code, stdout + stderr).toBe(0);
    return stdout + stderr;
  }

  function note(step: string, before: readonly string[]): void {
    const states = kept().map((now, index) => (now === '' ? 'gone' : now === before[index] ? 'kept' : 'CHANGED'));
    table.push([step, ...states, hasUser() ? 'there' : 'gone']);
  }

  it('print the next step, and contain documents without broken links', () => {
    const said = install(built.deb);

    expect(said).toMatch(
      /is installed and not started\. .*\n {2}sudo zlb-exporter init HOST .*\n {2}sudo .*-u zlb-exporter/,
    );
    expect(said).toContain('No systemd runs here: ');
    expect(said).toContain('In /usr/share/doc/zlb-exporter: rules of Prometheus in alerts/');
    expect(deadLinks(inRoot('/usr/share/doc/zlb-exporter'))).toEqual([]);
    const bill = readFileSync(inRoot('/usr/share/doc/zlb-exporter/zlb-exporter.cdx.json'), 'utf8');
    expect(bill).toContain('"cpe:2.3:a:nodejs:node.js:');
    expect(readFileSync(inRoot('/usr/lib/zlb-exporter/bin/LICENSE'), 'utf8')).toContain('Node.js is licensed');
    const copyright = readFileSync(inRoot('/usr/share/doc/zlb-exporter/copyright'), 'utf8');
    const bare = globSync(inRoot('/usr/lib/zlb-exporter/node_modules/{,@*/}*/package.json'))
      .map(dirname)
      .filter((path) => !readdirSync(path).some((name) => /^(?:licen[cs]e|copying)/i.test(name)));
    for (const path of bare) expect(copyright).toContain(` ${basename(path)} (`);
  });

  it('have every command in an alert, message, help or document', { timeout: 1_200_000 }, async () => {
    const machine = await startMachine({ parent: inRoot('/tmp'), hasAlerts: false });
    const place = machine.folder.slice(root.folder.length);
    // The configuration of the service, which commands find by themselves.
    for (const name of ['secrets', 'data']) symlinkSync(join(place, name), inRoot(`/etc/zlb-exporter/${name}`));
    cpSync(join(machine.folder, 'running.yml'), inRoot(configuration));
    const { PATH: _, ZLB_CONFIG_FILE: __, ...env } = machine.env;
    const program = [...root.entering('root'), '/usr/bin/env', `--chdir=${place}`, '/usr/bin/zlb-exporter'];

    const failures = await failuresOfNamed(
      { program, cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env, HOME: place, TMPDIR: '/tmp' } },
      machine,
    );
    await machine.close();
    for (const name of ['secrets', 'data']) rmSync(inRoot(`/etc/zlb-exporter/${name}`));

    expect(failures).toEqual([]);
  });

  it('keep configuration, keys and audit at a downgrade, upgrade and removal, and delete them at a purge', () => {
    writeFileSync(inRoot(audit), '{}\n');
    writeFileSync(inRoot('/etc/zlb-exporter/keys/lb-paris.key'), apiKey);
    const entry = { name: 'lb-paris', url: 'https://127.0.0.1:1', api_key_file: 'keys/lb-paris.key' };
    writeFileSync(inRoot(configuration), JSON.stringify({ appliances: [entry] }));
    const before = kept();
    expect(install(olderThan(built.deb, folder))).toContain('downgrading zlb-exporter');
    note('downgrade', before);
    const upgraded = install(built.deb);
    note('upgrade', before);
    expect(upgraded).not.toContain('not started');
    expect(root.run('zlb-exporter', ['check', `--config.file=${configuration}`]).stdout).toContain('lb-paris');
    expect(root.run('dpkg', ['-r', 'zlb-exporter']).code).toBe(0);
    note('remove', before);
    expect(existsSync(inRoot('/usr/lib/zlb-exporter'))).toBe(false);
    install(built.deb);
    note('install again', before);
    expect(root.run('dpkg', ['-P', 'zlb-exporter']).code).toBe(0);
    note('purge', before);

    expect(table).toEqual([
      ['downgrade', 'kept', 'kept', 'kept', 'there'],
      ['upgrade', 'kept', 'kept', 'kept', 'there'],
      ['remove', 'kept', 'kept', 'kept', 'there'],
      ['install again', 'kept', 'kept', 'kept', 'there'],
      ['purge', 'gone', 'gone', 'gone', 'gone'],
    ]);
    expect(globSync(inRoot('/**/*zlb-exporter*'), { exclude: (name) => basename(name) === 'proc' })).toEqual([]);
  });

  it("install from the RPM too, and a removal keeps the user's files", () => {
    const rpm = (...words: readonly string[]) =>
      spawnSync('rpm', [`--root=${root.folder}`, '--nodeps', ...words], { encoding: 'utf8' });

    const installed = rpm('-i', built.rpm);
    expect(installed.status, installed.stderr).toBe(0);
    expect(root.run('zlb-exporter', ['--version'], 'zlb-exporter').stdout).toMatch(/^zlb-exporter \d/);
    writeFileSync(inRoot('/etc/zlb-exporter/keys/lb-paris.key'), apiKey);
    writeFileSync(inRoot(configuration), '# ours\n');
    expect(rpm('-e', 'zlb-exporter').status).toBe(0);

    expect(readFileSync(inRoot(`${configuration}.rpmsave`), 'utf8')).toBe('# ours\n');
    expect(digest('/etc/zlb-exporter/keys/lb-paris.key')).not.toBe('');
    expect(existsSync(inRoot('/usr/lib/zlb-exporter/bin/node'))).toBe(false);
  });

  it('have an RPM that owns no foreign folder, hides the environment, and marks documents and configuration', () => {
    const list = '[%{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEFLAGS:fflags} %{FILENAMES}\n]';
    const lines = spawnSync('rpm', ['-qp', '--qf', list, built.rpm], { encoding: 'utf8' }).stdout.trim().split('\n');

    expect(lines.filter((line) => !/\/_?zlb-exporter/.test(line))).toEqual([]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'drwxr-xr-x root:root  /var/lib/zlb-exporter',
        '-rw------- root:root cn /etc/zlb-exporter/environment',
        '-rw-r--r-- root:root cn /etc/zlb-exporter/zlb.yml',
        '-rw-r--r-- root:root d /usr/share/doc/zlb-exporter/README.md',
        '-rwxr-xr-x root:root  /usr/bin/zlb-exporter',
      ]),
    );
  });

  it('run from the archive, wherever it is unpacked and whatever link leads to it', () => {
    spawnSync('tar', ['-xzf', built.archive, '-C', inRoot('/opt')]);
    const [unpacked = ''] = globSync(inRoot('/opt/zlb-exporter-*'));
    root.run('ln', ['-s', `/opt/${basename(unpacked)}/bin/zlb-exporter`, '/usr/local/bin/zlb']);

    expect(root.run('/usr/local/bin/zlb', ['--version'], 'nobody').stdout).toMatch(/^zlb-exporter \d/);
  });

  it('have no lintian warnings except those that deploy/packages/lintian-overrides explains', async () => {
    expect(await complaints).toBe('');
  });
});

/** Returns the links that lead to no file, of documents and of the file system. */
function deadLinks(folder: string): readonly string[] {
  const files = globSync('**', { cwd: folder });
  expect(files).toContain('deploy/grafana/import/zlb-fleet.json');
  expect(files).toContain('deploy/icinga/zlb-exporter.conf');
  return files.flatMap((file) => {
    const path = join(folder, file);
    if (!existsSync(path)) return [file];
    if (!file.endsWith('.md')) return [];
    const text = readFileSync(path, 'utf8').replaceAll(/^```[^]*?^```/gm, '');
    const links = [...text.matchAll(/\]\(([^)#\s]+)|src(?:set)?="([^"#\s]+)"/g)];
    return links
      .map(([, inText, inTag]) => inText ?? inTag ?? '')
      .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(folder, dirname(file), link)))
      .map((link) => `${file}: ${link}`);
  });
}

/** Asks lintian about a package; it takes half a minute, and leaves files in its folder. */
async function lint(file: string, folder: string): Promise<string> {
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn('lintian', ['--allow-root', file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout } = collectOutput(child);
  await once(child, 'close');
  return stdout();
}
