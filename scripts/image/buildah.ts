import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run-program.ts';

/** A builder of images with a store of its own. */
export interface Buildah {
  /**
   * Makes an image with a name of a folder, as if it had been fetched; its environment as
   * `NAME=value`.
   */
  import(name: string, folder: string, environment?: readonly string[]): void;
  /** Builds the Dockerfile of a folder from images that are there. */
  build(name: string, context: string, args: Readonly<Record<string, string>>): void;
  /** Returns the image as it would be sent to a registry. */
  read(name: string): BuiltImage;
  /** Lays the files of an image into a folder. */
  unpack(name: string, folder: string): void;
  /** Takes down what is mounted in the store, so that it can be removed. */
  close(): void;
}

export interface BuiltImage {
  readonly config: Readonly<Record<string, unknown>>;
  readonly layers: readonly Layer[];
}

export interface Layer {
  /** The instruction that made it. */
  readonly madeBy: string;
  readonly digest: string;
  /** As it is fetched, compressed. */
  readonly bytes: number;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

interface ImageFile {
  readonly config: Readonly<Record<string, unknown>>;
  readonly history: readonly { readonly created_by?: string; readonly empty_layer?: boolean }[];
}

/**
 * `created` is the time of everything in the images, so that it is the same when it is built again.
 */
export function createBuildah(folder: string, created: Date): Buildah {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
  const buildah = (...words: readonly string[]) => run('buildah', [...store, ...words]);
  let pushes = 0;

  return {
    import(name, tree, environment = []) {
      const container = buildah('from', 'scratch');
      buildah('add', container, tree, '/');
      for (const one of ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...environment])
        buildah('config', '--env', one, container);
      buildah('commit', '--rm', container, name);
    },
    build(name, context, args) {
      const given = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
      const manner = ['--isolation', 'chroot', '--format', 'docker', '--layers', '--no-cache', '--pull-never'];
      buildah('bud', ...manner, '--timestamp', String(created.getTime() / 1_000), ...given, '--tag', name, context);
    },
    read(name) {
      const target = join(folder, `push-${++pushes}`);
      buildah('push', name, `dir:${target}`);
      const text = readFileSync(join(target, 'manifest.json'));
      const manifest = JSON.parse(text.toString()) as Manifest;
      const file = JSON.parse(
        readFileSync(join(target, manifest.config.digest.replace('sha256:', '')), 'utf8'),
      ) as ImageFile;
      const made = file.history.filter(({ empty_layer: empty }) => !empty);
      return {
        config: file.config,
        layers: manifest.layers.map(({ digest, size }, index) => ({
          madeBy: made[index]?.created_by ?? '',
          digest,
          bytes: size,
        })),
      };
    },
    unpack(name, target) {
      const container = buildah('from', '--pull-never', name);
      run('cp', ['-a', `${buildah('mount', container)}/.`, target]);
    },
    close: () => void buildah('rm', '--all'),
  };
}
