import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Image, ImageConfig } from './container.ts';
import { type Dockerfile, imageStage, lastOf, readDockerfile, readPairs, type Stage } from './dockerfile.ts';
import { copyPackages } from './packages.ts';

/**
 * Performs the steps of the Dockerfile in an empty folder without a builder of images. It carries
 * out `COPY` and `RUN`; this Node.js and its libraries replace the base images. The packages are
 * those of this clone, not fetched again.
 */
export function performDockerfile(folder: string): Image {
  const dockerfile = readDockerfile();
  const stage = imageStage(dockerfile);
  const build = join(folder, 'build');
  const root = join(folder, 'root');
  performBuild(dockerfile, build);
  layBase(root);
  for (const { word, flags, text } of stage.instructions) {
    if (word !== 'COPY') continue;
    const [source = '', target = ''] = text.split(/\s+/);
    const from = sourceOf(source, flags['from'], build);
    const to = join(root, target.startsWith('/') ? target : join('/app', target));
    cpSync(from, target.endsWith('/') ? join(to, basename(source)) : to, { recursive: true, verbatimSymlinks: true });
    if (flags['chown']) run('chown', ['-R', flags['chown'], to], folder);
  }
  return { root, config: configOf(stage) };
}

/** Returns the path of what a `COPY` of the last stage copies. */
function sourceOf(source: string, stage: string | undefined, build: string): string {
  if (stage === undefined) return source;
  return stage === 'node' ? process.execPath : join(build, source.replace(/^\/app\//, ''));
}

function performBuild({ stages }: Dockerfile, folder: string): void {
  const instructions = stages.find(({ name }) => name === 'build')?.instructions ?? [];
  mkdirSync(folder, { recursive: true });
  for (const { word, text } of instructions) {
    const words = text.split(/\s+/);
    if (word === 'COPY') {
      const [target = '', ...sources] = words.toReversed();
      for (const source of sources)
        cpSync(source, join(folder, target.endsWith('/') ? join(target, basename(source)) : target), {
          recursive: true,
        });
    }
    if (word === 'RUN') {
      if (text.startsWith('npm ci')) copyPackages(folder);
      else run('sh', ['-ec', text], folder);
    }
  }
}

/** Creates the part of a base image that the exporter needs: the C and C++ libraries. */
function layBase(root: string): void {
  for (const place of ['proc', 'dev', 'tmp', 'etc/zlb-exporter', 'run/secrets'])
    mkdirSync(join(root, place), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  const libraries = run('ldd', [process.execPath], root).match(/\/\S+/g) ?? [];
  for (const library of libraries) cpSync(library, join(root, library), { recursive: true, dereference: true });
}

function configOf(stage: Stage): ImageConfig {
  const defaults = readPairs(
    stage.instructions
      .filter(({ word }) => word === 'ARG')
      .map(({ text }) => text)
      .join(' '),
  );
  const environment = Object.entries(readPairs(lastOf(stage, 'ENV'))).map(
    ([name, value]) => `${name}=${value.replace(/^\$\{(\w+)\}$/, (_, arg: string) => defaults[arg] ?? '')}`,
  );
  return {
    User: lastOf(stage, 'USER'),
    Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...environment],
    Entrypoint: JSON.parse(lastOf(stage, 'ENTRYPOINT')) as readonly string[],
    Cmd: JSON.parse(lastOf(stage, 'CMD')) as readonly string[],
    WorkingDir: lastOf(stage, 'WORKDIR'),
  };
}

function run(program: string, words: readonly string[], cwd: string): string {
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}
