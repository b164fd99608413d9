import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltImage, type Buildah, createBuildah } from './image/buildah.ts';
import { layBase, layNode, openDebian } from './image/stand-ins.ts';
import { ProgramError, run } from './run-program.ts';

// Builds the image with buildah, twice, and runs its tests on what came out. No registry of images
// is asked: what the Dockerfile begins with is made here, of Debian's packages. For root on Debian,
// with buildah and runc.

interface Parts {
  readonly folder: string;
  readonly buildah: Buildah;
  /** The commit that is built. */
  readonly revision: string;
  readonly created: string;
}

function layBases({ folder, buildah }: Parts): void {
  const begins = readFileSync('Dockerfile', 'utf8').matchAll(/^(?:FROM|ARG BASE=)\s*(?:--\S+ )?([\w./:-]+)/gm);
  const [base = '', node = ''] = [...begins].map(([, name]) => name);
  const release = /-(\w+)-slim$/.exec(node)?.[1] ?? '';
  say(`Making replacements of ${node} and ${base} from the packages of Debian ${release} …`);
  const unpack = openDebian(release, join(folder, 'apt'));
  const environment = layNode(unpack, join(folder, 'node/tree'));
  layBase(unpack, join(folder, 'base/tree'));
  buildah.import(`docker.io/library/${node}`, join(folder, 'node/tree'), environment);
  buildah.import(base, join(folder, 'base/tree'));
}

function build({ buildah, revision, created }: Parts, name: string): BuiltImage {
  const startedAt = performance.now();
  buildah.build(name, '.', { REVISION: revision, CREATED: created });
  say(`Built ${name} in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  return buildah.read(name);
}

function test({ folder, buildah }: Parts, name: string, { config }: BuiltImage): boolean {
  const image = join(folder, 'image');
  mkdirSync(join(image, 'root'), { recursive: true });
  buildah.unpack(name, join(image, 'root'));
  writeFileSync(join(image, 'config.json'), JSON.stringify(config));
  const { status } = spawnSync('vitest', ['run', 'test/e2e/image.test.ts'], {
    env: { ...process.env, ZLB_IMAGE: image },
    stdio: 'inherit',
  });
  return status === 0;
}

function sayLayers({ layers }: BuiltImage, again: BuiltImage): boolean {
  const same = layers.map(({ digest }, index) => digest === again.layers[index]?.digest);
  for (const [index, { madeBy, bytes }] of layers.entries())
    say(
      `  ${megabytes(bytes)}  ${madeBy.replace(/^.*#\(nop\) /, '')}${same[index] ? '' : '   DIFFERS in the second build'}`,
    );
  say(`  ${megabytes(layers.reduce((sum, { bytes }) => sum + bytes, 0))}  as it is fetched`);
  if (same.every(Boolean)) say('The second build has the same layers.');
  return same.every(Boolean);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).padStart(6)} MB`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'zlb-image-'));
const [revision = '', time = ''] = run('git', ['log', '-1', '--format=%H %ct']).split(' ');
const created = new Date(Number(time) * 1_000);
const buildah = createBuildah(join(folder, 'buildah'), created);
try {
  const parts = { folder, buildah, revision, created: created.toISOString() };
  layBases(parts);
  const [name, again] = ['localhost/zlb-exporter:one', 'localhost/zlb-exporter:again'] as const;
  const image = build(parts, name);
  const passed = test(parts, name, image);
  const same = sayLayers(image, build(parts, again));
  if (!passed || !same) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof ProgramError)) throw error;
  process.stderr.write(`image: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  buildah.close();
  rmSync(folder, { recursive: true });
}
