import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { problemsOf, unknownKeysOf } from '../../support/manifest-problems.ts';
import { readManifests } from '../../support/manifests.ts';

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path?: string }[];
  readonly configMapGenerator?: readonly { readonly files: readonly string[] }[];
}

const kustomizations = [...globSync('deploy/kubernetes/**/kustomization.yml'), 'dashboards/kustomization.yml'];
const read = (file: string): Kustomization => parse(readFileSync(file, 'utf8')) as Kustomization;

/** Returns the files that a kustomization names, from the root of the repository. */
function namesOf(file: string): readonly string[] {
  const { resources = [], components = [], patches = [], configMapGenerator = [] } = read(file);
  const files = [
    ...patches.flatMap(({ path }) => path ?? []),
    ...configMapGenerator.flatMap((generator) => generator.files),
  ];
  return [...resources, ...components, ...files].map((name) => join(dirname(file), name));
}

describe('the check of manifests', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', labels: { any: 'label' } },
    spec: { ports: [{ name: 'metrics', port: 9444 }] },
  };

  it('finds nothing in a manifest that is right', () => {
    expect(problemsOf(service)).toEqual([]);
  });

  it.each([
    ['a key that there is not', { ...service, speck: {} }, ['/speck is no key of Service']],
    [
      'such a key deep inside, and not its parts once more',
      { ...service, spec: { ports: [{ port: 1, tls: { on: true } }] } },
      ['/spec/ports/0/tls is no key of Service'],
    ],
    ['a text for a number', { ...service, spec: { ports: [{ port: '1' }] } }, [/ports\/0\/port must be integer/]],
    ['a key that is missing', { ...service, spec: { ports: [{}] } }, [/must have required property port/]],
    ['a kind without a schema', { ...service, apiVersion: 'v2' }, [/^v2 Service is not known here/]],
  ])('finds %s', (_, manifest, problems) => {
    expect(problemsOf(manifest)).toEqual(
      problems.map((problem) => (typeof problem === 'string' ? problem : expect.stringMatching(problem)) as string),
    );
  });
});

describe('the check of patches', () => {
  it('finds what the kind does not know, and not what the whole has to have', () => {
    const patch = { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { replicas: 3, replica: 4 } };

    expect(unknownKeysOf(patch)).toEqual(['/spec/replica is no key of StatefulSet']);
  });
});

describe('the files of deploy/kubernetes', () => {
  const resources = kustomizations.flatMap((file) =>
    (read(file).resources ?? []).filter((name) => name.endsWith('.yml')).map((name) => join(dirname(file), name)),
  );

  it.each(resources)('%s fits the schemas of Kubernetes, with no key too many', (file) => {
    expect(readManifests(file).flatMap((manifest) => problemsOf(manifest))).toEqual([]);
  });

  const patches = kustomizations.flatMap((file) =>
    (read(file).patches ?? []).flatMap(({ path }) => (path === undefined ? [] : join(dirname(file), path))),
  );

  it.each(patches)('%s, a patch, has no key that its kind does not know', (file) => {
    // Keys that kustomize removes must be named.
    const removals = [/\/\$patch is no key/, /\/strategy is no key of StatefulSet/];

    const unknown = readManifests(file).flatMap((manifest) => unknownKeysOf(manifest));

    expect(unknown.filter((key) => !removals.some((removal) => removal.test(key)))).toEqual([]);
  });

  it.each(kustomizations)('%s names what is there', (file) => {
    expect(namesOf(file).filter((name) => !existsSync(name))).toEqual([]);
  });

  it.each(kustomizations)('beside %s is nothing that it leaves out', (file) => {
    const folder = dirname(file);
    const beside = readdirSync(folder)
      .filter((name) => /\.(yml|json)$/.test(name) && name !== 'kustomization.yml')
      .map((name) => join(folder, name));

    expect(beside.filter((name) => !namesOf(file).includes(name))).toEqual([]);
  });
});
