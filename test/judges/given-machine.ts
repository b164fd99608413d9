import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { judge, run, succeeds } from './tools.ts';

const nspawn = judge('systemd-nspawn');
const mmdebstrap = judge('mmdebstrap');
export const canRunMachines = nspawn !== undefined && mmdebstrap !== undefined && process.getuid?.() === 0;
if (!canRunMachines) console.warn('NOT RUN: the package under a real systemd, for which one must be root');

/** Lays a Debian of the release of this machine into a folder; returns where it is. */
export async function layDebian(folder: string): Promise<string> {
  const tar = join(folder, 'root.tar');
  const included = '--include=systemd-sysv,dbus,passwd,procps,libstdc++6';
  const [, release = ''] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  await succeeds(mmdebstrap ?? '', ['--quiet', '--variant=minbase', included, release, tar]);
  const root = join(folder, 'root');
  mkdirSync(join(root, 'dev'), { recursive: true });
  await succeeds('tar', ['-xf', tar, '-C', root, '--exclude=./dev/*']);
  return root;
}

/** Boots a Debian, which runs its own systemd, on the network of this machine. */
export async function givenMachine(root: string) {
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
    120_000,
  );
  return inside;
}

function childrenOf(pid: number | string): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}
