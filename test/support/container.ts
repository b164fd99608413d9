import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { collectOutput } from './process.ts';
import { isThere } from './programs.ts';

/**
 * True for root, with runc, where it may make namespaces; says loudly when not, as its tests are
 * then skipped.
 */
export function canRunContainers(): boolean {
  const namespaces = ['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', 'true'];
  const can = isThere('runc') && spawnSync('unshare', namespaces, { stdio: 'ignore' }).status === 0;
  if (!can)
    console.warn('NOT RUN: the tests that need containers; they want root, runc, and the right to make namespaces');
  return can;
}

/** The run settings of an image, by the names of the OCI image specification. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
}

/** An image as a tree of files and what it says of itself. */
export interface Image {
  readonly root: string;
  readonly config: ImageConfig;
}

export interface ContainerParts {
  readonly image: Image;
  /** Replaces the image's `Cmd`. */
  readonly args?: readonly string[];
  readonly env?: readonly string[];
  /** Folders of this machine, by their place in the container. */
  readonly readable?: Readonly<Record<string, string>>;
  readonly writable?: Readonly<Record<string, string>>;
}

export type Container = ReturnType<typeof startContainer>;

/**
 * Runs an image as `docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges
 * --tmpfs=/tmp --network=none` does, by the same runtime; it ends with the test.
 */
export function startContainer(parts: ContainerParts) {
  const bundle = mkdtempSync(join(tmpdir(), 'zlb-container-'));
  const id = basename(bundle);
  const state = join(bundle, 'state');
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(runtimeConfig(parts)));
  const runc = (...words: readonly string[]) => spawnSync('runc', ['--root', state, ...words], { encoding: 'utf8' });

  const child = spawn('runc', ['--root', state, 'run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = collectOutput(child);
  const ended = (once(child, 'exit') as Promise<[number | null]>).then(([code]) => code);
  onTestFinished(async () => {
    runc('delete', '--force', id);
    await ended;
    rmSync(bundle, { recursive: true });
  });

  return {
    /** Returns the text of both outputs so far. */
    output: () => stdout() + stderr(),
    /** Runs one more program in it, as its user. */
    exec(...words: readonly string[]) {
      const { status, ...output } = runc('exec', id, ...words);
      return { code: status, stdout: output.stdout, stderr: output.stderr };
    },
    signal: (signal: NodeJS.Signals) => void runc('kill', id, signal),
    /** Resolves to the exit code of process 1. */
    ended,
  };
}

function runtimeConfig({ image: { root, config }, args, env = [], readable = {}, writable = {} }: ContainerParts) {
  const [uid, gid] = config.User.split(':').map(Number);
  const bind = (options: readonly string[]) => (places: Readonly<Record<string, string>>) =>
    Object.entries(places).map(([destination, source]) => ({
      destination,
      source,
      type: 'bind',
      options: ['bind', 'nosuid', 'nodev', ...options],
    }));
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...config.Entrypoint, ...(args ?? config.Cmd)],
      env: [...config.Env, ...env],
      cwd: config.WorkingDir,
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'noexec', 'mode=1777'] },
      ...bind(['ro'])(readable),
      ...bind(['rw'])(writable),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  };
}
