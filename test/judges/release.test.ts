import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { copyClone } from '../support/packages.ts';
import { until } from '../support/until.ts';
import { canRunMachines, givenMachine, layDebian } from './given-machine.ts';
import { judge, run, succeeds, tell } from './tools.ts';

const qemu = judge('qemu-aarch64-static');
const canCross = judge('aarch64-linux-gnu-strip') !== undefined && process.arch === 'x64';
const version = '9.8.7';

async function isUp(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/metrics`).then(
    async (answer) => (await answer.text()).includes('zlb_up{appliance="lb-paris"} 1'),
    () => false,
  );
}

/** Does in a clone what the workflow of a release does. */
async function makeRelease(clone: string): Promise<void> {
  const env = { ...process.env, PATH: `${resolve('node_modules/.bin')}:${process.env['PATH']}` };
  const inClone = async (program: string, ...words: readonly string[]): Promise<string> =>
    await succeeds(program, words, { cwd: clone, env });
  await inClone('npm', 'version', '--no-git-tag-version', version);
  // Refuses a tag that is not the version, and a changelog without it.
  await inClone('node', 'scripts/release/notes.ts', `v${version}`);
  await inClone('npm', 'run', 'package', '--', 'deb');
  if (canCross) await inClone('npm', 'run', 'package', '--', 'deb', '--arch=arm64');
  console.log(await inClone('scripts/release/finish.sh'));
}

/** The same package as an earlier version. */
function earlierThan(deb: string, folder: string): string {
  const tree = join(folder, 'earlier');
  run('dpkg-deb', ['-R', deb, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, 'Version: 0.0.1'));
  run('dpkg-deb', ['--root-owner-group', '-Znone', '-b', tree, `${tree}.deb`]);
  return `${tree}.deb`;
}

describe.skipIf(!judge('nfpm') || !judge('dpkg-deb') || !judge('strip'))('a release built on one machine', () => {
  let folder: string;
  let clone: string;
  /** A Debian to install into. */
  let root: string;
  const release = (pattern: string): string => globSync(join(clone, 'release', pattern))[0] ?? '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'zlb-release-'));
    clone = join(folder, 'clone');
    copyClone(clone);
    [root] = await Promise.all([canRunMachines ? layDebian(folder) : '', makeRelease(clone)]);
  }, 1_500_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has one version and one owner everywhere', () => {
    const owner = spawnSync('git', ['grep', '--word-regexp', '--files-with-matches', 'OWNER'], { encoding: 'utf8' });
    const files = [
      'package.json',
      'Dockerfile',
      'deploy/helm/zlb-exporter/Chart.yaml',
      'deploy/README.md',
      'deploy/helm/zlb-exporter/README.md',
      'CHANGELOG.md',
    ];
    const without = files.filter((file) => !readFileSync(join(clone, file), 'utf8').includes(version));

    // The others name what is to be replaced in the first.
    const named = owner.stdout
      .trim()
      .split('\n')
      .filter((file) => !file.startsWith('test/'));
    expect(named).toEqual([
      'deploy/helm/zlb-exporter/Chart.yaml',
      'package.json',
      'scripts/release/README.md',
      'scripts/release/package.ts',
    ]);
    expect(without).toEqual([]);
  });

  it('has checksums of all its files, and a bill of materials', () => {
    const checked = run('sh', ['-c', 'cd "$1" && sha256sum --check SHA256SUMS', 'sh', join(clone, 'release')]);
    const bill = JSON.parse(readFileSync(release('*.cdx.json'), 'utf8')) as { components: readonly unknown[] };
    const names = globSync('*', { cwd: join(clone, 'release') }).filter((name) => name !== 'SHA256SUMS');

    expect(checked).toMatchObject({ status: 0, stderr: '' });
    expect(checked.stdout.trim().split('\n').toSorted()).toEqual(names.map((name) => `${name}: OK`).toSorted());
    expect(bill.components.length).toBeGreaterThan(50);
  });

  it.skipIf(!canCross || !qemu)('has a package for arm64 whose program runs on that processor', async () => {
    const root = givenFolder();
    run('dpkg-deb', ['-x', release('*_arm64.deb'), root]);
    const program = join(root, 'usr/lib/zlb-exporter');
    const words = ['-L', '/usr/aarch64-linux-gnu', join(program, 'bin/node'), join(program, 'dist/src/main.js')];

    expect(await succeeds(qemu ?? '', [...words, '--version'])).toContain(`zlb-exporter ${version} `);
    const { stdout } = run('file', ['--brief', join(program, 'bin/node')]);
    expect(stdout).toContain('aarch64');
  });

  it.skipIf(!canRunMachines)(
    'has a Debian package that systemd starts, restarts and limits, and that refuses a broken upgrade',
    {
      timeout: 600_000,
    },
    async () => {
      const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'canarykey' });
      onTestFinished(() => appliance.close());
      const folder = givenFolder();
      const inside = await givenMachine(root);
      const deb = release(`*_${process.arch === 'x64' ? 'amd64' : process.arch}.deb`);
      const earlier = earlierThan(deb, folder);
      const port = await freePort();
      const show = (name: string): string =>
        inside('systemctl', 'show', '--value', '-p', name, 'zlb-exporter').stdout.trim();
      const startedAt = performance.now();

      cpSync(earlier, join(root, 'opt/earlier.deb'));
      const installed = inside('dpkg', '-i', '/opt/earlier.deb');
      expect(installed, installed.stderr).toMatchObject({ status: 0 });
      expect(installed.stdout).toContain('sudo systemctl enable --now zlb-exporter');
      writeFileSync(join(root, 'etc/zlb-exporter/keys/lb-paris.key'), 'canarykey');
      inside('chown', 'zlb-exporter', '/etc/zlb-exporter/keys/lb-paris.key');
      const tls = { fingerprint_sha256: appliance.fingerprintSha256 };
      const target = { name: 'lb-paris', url: appliance.url, api_key_file: 'keys/lb-paris.key', tls };
      writeFileSync(join(root, 'etc/zlb-exporter/zlb.yml'), JSON.stringify({ appliances: [target] }));
      const flags = `ZLB_EXPORTER_FLAGS=--web.listen-address=127.0.0.1:${port}\n`;
      writeFileSync(join(root, 'etc/zlb-exporter/environment'), flags);

      const holder = createServer().listen(port, '127.0.0.1');
      inside('systemctl', 'enable', '--now', 'zlb-exporter');
      await until(
        () => show('NRestarts'),
        (restarts) => Number(restarts) >= 1,
      );
      holder.close();
      await until(() => isUp(port), Boolean, 120_000);
      tell('package under systemd, whose port was taken once', 4, startedAt);
      const first = show('MainPID');
      expect(inside('systemctl', 'is-enabled', 'zlb-exporter').stdout.trim()).toBe('enabled');

      cpSync(deb, join(root, 'opt/zlb-exporter.deb'));
      const upgraded = inside('dpkg', '-i', '/opt/zlb-exporter.deb');
      expect(upgraded, upgraded.stderr).toMatchObject({ status: 0 });
      await until(() => isUp(port), Boolean, 120_000);
      expect([show('ActiveState'), show('MainPID') === first]).toEqual(['active', false]);

      const second = show('MainPID');
      const journal = inside('journalctl', '--unit=zlb-exporter', '--output=cat', `_PID=${second}`).stdout;
      expect(journal).not.toContain('canarykey');
      expect(journal.trim().split('\n'), journal).toHaveLength(3);

      for (const [file, wrong, problem] of [
        ['zlb.yml', JSON.stringify({ appliances: [target], unknown: 1 }), '/etc/zlb-exporter/zlb.yml:'],
        ['environment', `${flags.trim()} --gone\n`, 'no flag --gone'],
      ] as const) {
        const path = join(root, 'etc/zlb-exporter', file);
        const right = readFileSync(path);
        writeFileSync(path, wrong);
        const { stdout } = inside('dpkg', '-i', '/opt/zlb-exporter.deb');
        expect(stdout).toContain(problem);
        expect(stdout).toMatch(/^The service still runs the previous version: .*: systemctl restart zlb-exporter$/m);
        expect(show('MainPID')).toBe(second);
        const reloaded = inside('systemctl', 'reload', 'zlb-exporter');
        expect([reloaded.status, show('MainPID')]).toEqual([1, second]);
        writeFileSync(path, right);
      }

      // A restart with a refused configuration fails at once, says why in its status, and is not tried again.
      const path = join(root, 'etc/zlb-exporter/zlb.yml');
      const right = readFileSync(path);
      writeFileSync(path, JSON.stringify({ appliances: [target], unknown: 1 }));
      expect(inside('systemctl', 'restart', 'zlb-exporter').status).toBe(1);
      expect(inside('systemctl', 'status', '--no-pager', 'zlb-exporter').stdout).toContain(
        '/etc/zlb-exporter/zlb.yml:1:',
      );
      expect([show('ActiveState'), show('NRestarts')]).toEqual(['failed', '0']);
      writeFileSync(path, right);
      expect(inside('systemctl', 'restart', 'zlb-exporter').status).toBe(0);

      const security = inside('systemd-analyze', 'security', 'zlb-exporter', '--no-pager').stdout;
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(security)?.[1])).toBeLessThan(2);
    },
  );

  it.skipIf(!canRunMachines)(
    'has a zlb-exporter-check with the rights of the service and the exit code of check',
    { timeout: 600_000 },
    async () => {
      const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'canarykey' });
      onTestFinished(() => appliance.close());
      const inside = await givenMachine(root);
      cpSync(release(`*_${process.arch === 'x64' ? 'amd64' : process.arch}.deb`), join(root, 'opt/zlb-exporter.deb'));
      expect(inside('dpkg', '-i', '/opt/zlb-exporter.deb')).toMatchObject({ status: 0 });
      const keyFile = '/etc/zlb-exporter/keys/lb-paris.key';
      writeFileSync(join(root, keyFile), 'canarykey');
      chmodSync(join(root, keyFile), 0o600);
      const configure = (api_key_file: string, fingerprint_sha256 = appliance.fingerprintSha256) => {
        const target = { name: 'lb-paris', url: appliance.url, api_key_file, tls: { fingerprint_sha256 } };
        writeFileSync(join(root, 'etc/zlb-exporter/zlb.yml'), JSON.stringify({ appliances: [target] }));
      };
      const edit = (lines: string): void => {
        mkdirSync(join(root, 'etc/systemd/system/zlb-exporter.service.d'), { recursive: true });
        writeFileSync(join(root, 'etc/systemd/system/zlb-exporter.service.d/override.conf'), `[Service]\n${lines}\n`);
        inside('systemctl', 'daemon-reload');
      };
      const check = async () => {
        const [, cursor = ''] = /cursor: (.*)/.exec(inside('journalctl', '--lines=0', '--show-cursor').stdout) ?? [];
        const entries = ['journalctl', '--unit=zlb-exporter-check', '--output=cat', `--after-cursor=${cursor}`];
        // The appliance is in this process, which must not wait for the command.
        inside('systemctl', 'start', '--no-block', 'zlb-exporter-check');
        const journal = await until(
          () => inside(...entries).stdout,
          (text) => /^(?:Finished|Failed to start) /m.test(text),
        );
        expect(journal).not.toContain('canarykey');
        const code = inside('systemctl', 'show', '--value', '-p', 'ExecMainStatus', 'zlb-exporter-check').stdout.trim();
        return { code, journal };
      };

      inside('chown', 'root', keyFile);
      configure('keys/lb-paris.key');
      expect(await check()).toEqual({
        code: '2',
        journal: expect.stringMatching(
          `user zlb-exporter may not read ${keyFile}; .*: chown zlb-exporter ${keyFile}\n`,
        ) as string,
      });

      inside('chown', 'zlb-exporter', keyFile);
      configure('keys/lb-paris.key', '0'.repeat(64));
      expect(await check()).toEqual({
        code: '1',
        journal: expect.stringMatching(/lb-paris {2}FAILED .*\n[^]* The certificate is not the pinned one/) as string,
      });

      const good = {
        code: '0',
        journal: expect.stringContaining('\n1 appliance can be polled as configured') as string,
      };
      configure('keys/lb-paris.key');
      expect(await check()).toEqual(good);

      inside('chown', 'root', keyFile);
      configure('/run/credentials/zlb-exporter.service/lb');
      // A command that would end neither the start nor the test.
      edit(`LoadCredential=lb:${keyFile}\nExecStart=\nExecStart=/usr/bin/sleep infinity\nRestart=always`);
      expect(await check()).toEqual(good);

      configure('keys/lb-paris.key');
      edit('User=daemon');
      expect(await check()).toMatchObject({
        code: '2',
        journal: expect.stringContaining('user daemon may not ') as string,
      });
    },
  );
});
