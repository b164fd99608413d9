import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export type CleanRoot = Awaited<ReturnType<typeof makeCleanRoot>>;

/** The environment of a program that a service manager or an administrator starts. */
const cleanEnvironment = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
};

/** True if this machine lets a test make devices and mount; says so loudly when it does not. */
export function canMakeRoots(): boolean {
  const attempt =
    'd=$(mktemp -d); mknod "$d/null" c 1 3 && unshare --mount mount -t proc proc "$d"; e=$?; rm -r "$d"; exit $e';
  const can = spawnSync('sh', ['-c', attempt], { stdio: 'ignore' }).status === 0;
  if (!can)
    console.warn('NOT RUN: the tests that install packages in a clean root, for which devices and mounts are needed');
  return can;
}

/**
 * Installs a minimal Debian of the release of this machine in a folder; rejects with what went
 * wrong.
 */
export async function makeCleanRoot(folder: string) {
  const [, release = ''] = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const main = ['Created-By: Packages', 'Label: Debian'];
  const asked = spawnSync('apt-get', ['indextargets', '--format=$(REPO_URI)', ...main], { encoding: 'utf8' });
  const [mirror = ''] = asked.stdout.split('\n');
  const child = spawn('debootstrap', ['--variant=minbase', '--include=procps', release, folder, mirror], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`debootstrap ended with ${code}: ${said.slice(-1_000)}`);

  // Node.js needs /proc, which is mounted for that program alone.
  const enter = ['unshare', '--mount', 'sh', '-c', 'mount -t proc proc "$0/proc" && exec chroot "$@"', folder];
  // A colon without a group: the user's own.
  const entering = (user: string): readonly string[] => [...enter, `--userspec=${user}:`, folder];
  return {
    folder,
    /** The words before a command that run it in there. */
    entering,
    /** Runs a program in it to its end, as root or as another user. */
    run(program: string, words: readonly string[], user = 'root') {
      const [first = '', ...rest] = [...entering(user), program, ...words];
      const { status, stdout, stderr } = spawnSync(first, rest, { env: cleanEnvironment, encoding: 'utf8' });
      return { code: status, stdout, stderr };
    },
  };
}
