import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { Kind, Manifest } from './manifest-problems.ts';
import { isThere } from './programs.ts';

/** True where `kubectl kustomize` is, and new enough for components and changes of kind. */
export function canBuild(): boolean {
  if (!isThere('kubectl')) return false;
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const isNew = stdout.includes('kustomizeVersion');
  if (!isNew) console.warn('NOT RUN: the tests that need kubectl 1.24 or newer');
  return isNew;
}

/** Returns what `kubectl apply -k` would send. */
export function build(folder: string): readonly Manifest[] {
  return manifestsOf(execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', stdio: 'pipe' }));
}

/** Returns the manifests of an overlay with a component that it has only as a comment. */
export function buildWith(overlay: string, component: string): readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-kustomize-'));
  const fromThere = (path: string): string => relative(folder, resolve(path));
  try {
    const kustomization = {
      namespace: 'monitoring',
      resources: [fromThere(overlay)],
      components: [fromThere(component)],
    };
    writeFileSync(join(folder, 'kustomization.yml'), stringify(kustomization));
    return build(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function readManifests(file: string): readonly Manifest[] {
  return manifestsOf(readFileSync(file, 'utf8'));
}

/** As Kubernetes reads YAML, where 0440 is octal. */
function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as Manifest);
}

export function allOf<K extends Kind>(manifests: readonly Manifest[], kind: K): readonly Manifest<K>[] {
  return manifests.filter((manifest): manifest is Manifest<K> => manifest.kind === kind);
}

export function onlyOf<K extends Kind>(manifests: readonly Manifest[], kind: K): Manifest<K> {
  const [found, ...more] = allOf(manifests, kind);
  if (!found || more.length > 0) throw new Error(`expected one ${kind}, there are ${more.length + (found ? 1 : 0)}`);
  return found;
}
