import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { copyClone } from '../support/packages.ts';
import { until } from '../support/until.ts';
import { judge, run } from './tools.ts';

const nspawn = judge('systemd-nspawn');
const mmdebstrap = judge('mmdebstrap');

/** A Debian that runs its own systemd, on the network of this machine. */
async function givenMachine(folder: string) {
  const tar = join(folder, 'root.tar');
  const included = '--include=systemd-sysv,dbus,passwd,procps,libstdc++6';
  const [, release = ''] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  await succeeds(mmdebstrap ?? '', ['--quiet', '--variant=minbase', included, release, tar]);
  const root = join(folder, 'root');
  mkdirSync(join(root, 'dev'), { recursive: true });
  await succeeds('tar', ['-xf', tar, '-C', root, '--exclude=./dev/*']);
  const child = spawn(nspawn ?? '', ['--boot', '--register=no', '--keep-unit', '-D', root], { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    inside('systemctl', 'halt', '--force', '--force');
    await ended;
  });
  const leader = await until(
    () => childrenOf(child.pid ?? 0).find((pid) => /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))),
    (pid) => pid !== undefined,
  );
  const inside = (...words: readonly string[]) => run('nsenter', ['--target', leader ?? '', '--all', ...words]);
  await until(
    () => inside('systemctl', 'is-system-running').stdout.trim(),
    (state) => ['running', 'degraded'].includes(state),
    60_000,
  );
  return { root, inside };
}

function childrenOf(pid: number | string): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}

async function succeeds(program: string, words: readonly string[], cwd?: string): Promise<void> {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  expect([program, code]).toEqual([program, 0]);
}

/** Builds the package of a copy of this clone, and the same as an earlier version. */
async function buildPackages(folder: string): Promise<{ readonly earlier: string; readonly deb: string }> {
  const clone = join(folder, 'clone');
  copyClone(clone);
  await succeeds(
    'env',
    [`PATH=${resolve('node_modules/.bin')}:${process.env['PATH']}`, 'npm', 'run', 'package', '--', 'deb'],
    clone,
  );
  const [deb = ''] = globSync(join(clone, 'release/*.deb'));
  const tree = join(folder, 'earlier');
  await succeeds('dpkg-deb', ['-R', deb, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, 'Version: 0.0.1'));
  await succeeds('dpkg-deb', ['--root-owner-group', '-Znone', '-b', tree, `${tree}.deb`]);
  return { earlier: `${tree}.deb`, deb };
}

describe.skipIf(!nspawn || !mmdebstrap)('the Debian package under a real systemd', () => {
  it('is enabled, started, restarted when its port is taken, upgraded, and holds its limits', {
    timeout: 600_000,
  }, async () => {
    const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'canarykey' });
    onTestFinished(() => appliance.close());
    const folder = givenFolder();
    const [{ root, inside }, built] = await Promise.all([givenMachine(folder), buildPackages(folder)]);
    const port = await freePort();
    const show = (name: string): string =>
      inside('systemctl', 'show', '--value', '-p', name, 'zlb-exporter').stdout.trim();
    const isUp = async (): Promise<boolean> =>
      await fetch(`http://127.0.0.1:${port}/metrics`).then(
        async (answer) => (await answer.text()).includes('zlb_up{appliance="lb-paris"} 1'),
        () => false,
      );
    const startedAt = performance.now();
    const seconds = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;

    cpSync(built.earlier, join(root, 'opt/earlier.deb'));
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
    const steps = [`installed after ${seconds()}`];

    const holder = createServer().listen(port, '127.0.0.1');
    inside('systemctl', 'enable', '--now', 'zlb-exporter');
    await until(
      () => show('NRestarts'),
      (restarts) => Number(restarts) >= 1,
    );
    holder.close();
    await until(isUp, Boolean);
    steps.push(`metrics after ${seconds()}, of which the port was taken for one restart`);
    const first = show('MainPID');
    expect(inside('systemctl', 'is-enabled', 'zlb-exporter').stdout.trim()).toBe('enabled');

    cpSync(built.deb, join(root, 'opt/zlb-exporter.deb'));
    const upgraded = inside('dpkg', '-i', '/opt/zlb-exporter.deb');
    expect(upgraded, upgraded.stderr).toMatchObject({ status: 0 });
    await until(isUp, Boolean);
    steps.push(`upgraded after ${seconds()}`);
    expect([show('ActiveState'), show('MainPID') === first]).toEqual(['active', false]);

    const journal = inside('journalctl', '--unit=zlb-exporter', '--output=cat', `_PID=${show('MainPID')}`).stdout;
    const security = inside('systemd-analyze', 'security', 'zlb-exporter', '--no-pager').stdout;
    console.log([steps.join(', '), journal, security.trim().split('\n').at(-1)].join('\n'));
    expect(journal).not.toContain('canarykey');
    expect(journal.trim().split('\n')).toHaveLength(3);
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(security)?.[1])).toBeLessThan(2);
  });
});
