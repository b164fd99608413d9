import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isThere } from '../../support/programs.ts';
import {
  apiKey,
  givenArchive,
  givenBareClone,
  givenDestination,
  givenNode,
  givenPrograms,
  givenUnpackedPackage,
} from './given-installation.ts';

const keysFile = 'etc/systemd/system/zlb-exporter.service.d/keys.conf';
const unitFile = 'etc/systemd/system/zlb-exporter.service';
const checkFile = 'etc/systemd/system/zlb-exporter-check.service';

describe('deploy/systemd/install.sh', () => {
  it('installs a program that runs, without the packages that only build and test', () => {
    const clone = givenBareClone();
    symlinkSync(resolve('node_modules'), join(clone, 'node_modules'));
    spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', join(clone, 'dist')]);
    const { install, pathOf } = givenDestination(clone);

    expect(install()).toMatchObject({ status: 0, stderr: '' });

    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const main = pathOf('opt/zlb-exporter/dist/src/main.js');
    const started = spawnSync(process.execPath, [main, '--version'], { encoding: 'utf8' });
    expect(started).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(version) as string });
    expect(readdirSync(pathOf('opt/zlb-exporter/node_modules'))).toContain('fastify');
    expect(readdirSync(pathOf('opt/zlb-exporter/node_modules'))).not.toContain('vitest');
  });

  it('copies only runtime packages from a clone, and everything from an unpacked package', () => {
    const packagesIn = (place: ReturnType<typeof givenDestination>) => {
      expect(place.install()).toMatchObject({ status: 0, stderr: '' });
      return globSync('**/index.js', { cwd: place.pathOf('opt/zlb-exporter/node_modules') }).toSorted();
    };

    expect(packagesIn(givenDestination())).toEqual([
      '@scope/runs/index.js',
      'runs/index.js',
      'runs/node_modules/inside/index.js',
    ]);
    expect(packagesIn(givenDestination(givenUnpackedPackage()))).toEqual(['@scope/runs/index.js', 'runs/index.js']);
  });

  it('makes the program readable by everybody, writable by its owner, and the keys private', () => {
    const { install, pathOf, modes } = givenDestination();

    install();

    const program = pathOf('opt/zlb-exporter');
    const wrong = globSync('**', { cwd: program }).filter((file) => {
      const { mode } = statSync(join(program, file));
      return (mode & 0o044) !== 0o044 || (mode & 0o022) !== 0;
    });
    expect(wrong).toEqual([]);
    expect(modes()).toEqual({
      etc: '755',
      'etc/systemd': '755',
      'etc/systemd/system': '755',
      [unitFile]: '644',
      [`${unitFile}.d`]: '755',
      [keysFile]: '644',
      [checkFile]: '644',
      [`${checkFile}.d`]: '755',
      [`${checkFile}.d/0-service.conf`]: '777',
      [`${checkFile}.d/zz-check.conf`]: '777',
      'etc/systemd/system/zlb-exporter-.service.d': '777',
      'etc/zlb-exporter': '755',
      'etc/zlb-exporter/environment': '600',
      'etc/zlb-exporter/keys': '700',
      'opt/zlb-exporter': '755',
    });
  });

  it('changes nothing on a second run, and keeps configuration, keys and environment', () => {
    const { install, pathOf, modes, giveKey } = givenDestination();
    install();
    const yours = { 'zlb.yml': 'appliances: []\n', environment: 'ZLB_EXPORTER_FLAGS=--log.level=debug\n' };
    for (const [name, text] of Object.entries(yours)) writeFileSync(pathOf(`etc/zlb-exporter/${name}`), text);
    giveKey('lb-paris');
    install();
    const before = modes();

    expect(install()).toMatchObject({ status: 0, stderr: '' });

    expect(modes()).toEqual(before);
    for (const [name, text] of Object.entries({ ...yours, 'keys/lb-paris': apiKey }))
      expect(readFileSync(pathOf(`etc/zlb-exporter/${name}`), 'utf8')).toBe(text);
    expect(readdirSync(pathOf('opt'))).toEqual(['zlb-exporter']);
  });

  it('declares each key to systemd, and restricts those that others could read', () => {
    const { install, pathOf, modes, giveKey } = givenDestination();
    install();
    giveKey('lb-paris');
    giveKey('lb-madrid', 0o644);

    install();

    expect(readFileSync(pathOf(keysFile), 'utf8').split('\n').slice(1)).toEqual([
      '[Service]',
      'LoadCredential=lb-madrid:/etc/zlb-exporter/keys/lb-madrid',
      'LoadCredential=lb-paris:/etc/zlb-exporter/keys/lb-paris',
      '',
    ]);
    expect(modes()).toMatchObject({ 'etc/zlb-exporter/keys/lb-madrid': '600' });
  });

  it('lets the unit run a Node.js behind a symbolic link', () => {
    const { install, pathOf } = givenDestination();
    const [node, link] = [givenNode(), join(givenPrograms([]), 'node')];
    symlinkSync(node, link);

    install(`--node=${link}`);

    const unit = readFileSync(pathOf(unitFile), 'utf8');
    expect(unit).toContain(`\nExecStart=${link} $ZLB_NODE_PERMISSIONS`);
    const folders = /^ExecPaths=(.*)$/m.exec(unit)?.[1]?.split(' ');
    expect(folders?.some((folder) => node.startsWith(`${folder}/`))).toBe(true);
  });

  it('lets the unit run a Node.js from an archive', () => {
    const { install, pathOf } = givenDestination(givenArchive());

    expect(install()).toMatchObject({ status: 0, stderr: '' });

    const unit = readFileSync(pathOf(unitFile), 'utf8');
    expect(unit).toContain('\nExecStart=/opt/zlb-exporter/bin/node $ZLB_NODE_PERMISSIONS');
    expect(unit).toMatch(/^ExecPaths=.* \/opt\/zlb-exporter\/bin$/m);
    expect(statSync(pathOf('opt/zlb-exporter/bin/node')).mode & 0o777).toBe(0o755);
  });

  it.skipIf(!isThere('systemd-analyze'))('writes units and keys that systemd accepts', () => {
    const { install, pathOf, giveKey } = givenDestination();
    install();
    giveKey('lb-paris');
    install();

    const units = [unitFile, checkFile].map(pathOf);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
      encoding: 'utf8',
    });

    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });

  it('removes the program and the service, and leaves everything else', () => {
    const { install, folder, pathOf, giveKey } = givenDestination();
    install();
    giveKey('lb-paris');

    const { status, stdout } = install('--uninstall');

    expect(status).toBe(0);
    expect(stdout).toContain('What is yours is still there: /etc/zlb-exporter');
    expect(globSync('{opt,etc/systemd/system}/*', { cwd: folder })).toEqual([]);
    expect(readdirSync(pathOf('etc/zlb-exporter')).toSorted()).toEqual(['environment', 'keys']);
    expect(readFileSync(pathOf('etc/zlb-exporter/keys/lb-paris'), 'utf8')).toBe(apiKey);
    expect(install('--uninstall')).toMatchObject({ status: 0 });
  });
});
