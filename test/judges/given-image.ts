import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Image, ImageConfig } from '../support/container.ts';
import { readDockerfile, readPairs } from '../support/dockerfile.ts';
import { succeeds } from './tools.ts';

export interface BuiltImage extends Image {
  /** Its labels, and what an engine starts to see whether it is healthy. */
  readonly docker: {
    readonly Labels: Readonly<Record<string, string>>;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
  /** Bytes of its layers as a registry sends them. */
  readonly sent: number;
  readonly seconds: number;
  readonly remove: () => Promise<void>;
}

/** Programs that the steps of the Dockerfile start, and those that start them. */
const buildPrograms = ['sh', 'env', 'cp', 'rm', 'mkdir', 'chmod', 'ln', 'find', 'sed', 'uname', 'dirname'];

/**
 * Builds the image by buildah from the Dockerfile as it is. Nothing is fetched from a registry of
 * images: this Node.js, with programs and libraries of this machine, has the names of its bases.
 */
export async function buildImage(): Promise<BuiltImage> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-image-'));
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = async (...words: readonly string[]): Promise<string> =>
    await succeeds('buildah', [...store, ...words]);
  const commit = async (name: string, root: string, settings: readonly string[] = []): Promise<void> => {
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, root, '/');
    if (settings.length > 0) await buildah('config', ...settings.flatMap((one) => ['--env', one]), container);
    await buildah('commit', '--quiet', '--rm', container, name);
  };
  const dockerfile = readDockerfile();
  const [node = ''] = dockerfile.stages.map(({ from }) => from);
  const { BASE = '' } = readPairs(dockerfile.globals.join(' '));
  const startedAt = performance.now();

  await commit(node, await layNode(join(folder, 'node')), await npmSettings());
  await commit(BASE, await layBase(join(folder, 'base')));
  const cache = `${await succeeds('npm', ['config', 'get', 'cache'])}:/cache`;
  const manner = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--volume', cache];
  await buildah('build', ...manner, '--build-arg', 'REVISION=built-by-a-test', '--tag', 'zlb-exporter', '.');
  const seconds = (performance.now() - startedAt) / 1_000;

  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'zlb-exporter')) as {
    Docker: { config: ImageConfig & BuiltImage['docker'] };
  };
  const target = join(folder, 'pushed');
  await buildah('push', '--quiet', 'zlb-exporter', `dir:${target}`);
  const { layers } = JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8')) as {
    layers: readonly { readonly size: number }[];
  };
  const root = await buildah('mount', await buildah('from', '--pull-never', 'zlb-exporter'));
  return {
    root,
    config: Docker.config,
    docker: Docker.config,
    sent: layers.reduce((sum, { size }) => sum + size, 0),
    seconds,
    remove: async () => {
      await buildah('rm', '--all');
      rmSync(folder, { recursive: true });
    },
  };
}

/** Lays the part of the image `node` that the build needs. */
async function layNode(root: string): Promise<string> {
  const paths = await succeeds('which', [...buildPrograms]);
  await layPrograms(root, paths.split('\n'));
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  writeFileSync(join(root, 'usr/local/LICENSE'), 'Node.js is licensed for use as follows');
  const npm = dirname(dirname(realpathSync(await succeeds('which', ['npm']))));
  cpSync(npm, join(root, 'usr/local/lib/npm'), { recursive: true, dereference: true });
  const start = '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n';
  writeFileSync(join(root, 'usr/local/bin/npm'), start, { mode: 0o755 });
  const names = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', ...globSync('/lib/*/libnss_{dns,files}.so.2')];
  for (const file of [...names, '/etc/ssl/certs/ca-certificates.crt']) copy(file, root);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  return root;
}

/** Makes npm of the build find packages as npm of this machine does. */
async function npmSettings(): Promise<readonly string[]> {
  return [
    'PATH=/usr/local/bin:/usr/bin:/bin',
    'HOME=/tmp',
    'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
    'npm_config_cache=/cache',
    'npm_config_prefer_offline=true',
    `npm_config_registry=${await succeeds('npm', ['config', 'get', 'registry'])}`,
  ];
}

/** Lays the part of the base that the exporter needs: the C and C++ libraries. */
async function layBase(root: string): Promise<string> {
  await layPrograms(root, []);
  return root;
}

/** Lays programs of this machine into a folder, with the libraries that they and Node.js need. */
async function layPrograms(root: string, programs: readonly string[]): Promise<void> {
  for (const place of ['proc', 'dev', 'sys', 'tmp', 'etc/ssl/certs', 'run/secrets', 'usr/local/bin'])
    mkdirSync(join(root, place), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  for (const place of ['bin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', place), { recursive: true });
    symlinkSync(join('usr', place), join(root, place));
  }
  const libraries = (await succeeds('ldd', [process.execPath, ...programs])).match(/(?<=\s)\/\S+(?= \()/g) ?? [];
  for (const file of [...programs, ...libraries]) copy(file, root);
}

/** Copies a file of this machine, or what a link leads to, to the same place below a folder. */
function copy(file: string, root: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  copyFileSync(file, join(root, file));
}
