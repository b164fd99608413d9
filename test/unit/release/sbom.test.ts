import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { billOfMaterials } from '../../../scripts/sbom.ts';

it('the bill of materials lists Node.js as scanners name it, and all runtime packages, but none for tests', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;

  const { components } = billOfMaterials({ builtAt: new Date(0), node: 'package.json' });

  const has = ([name, version]: readonly [string, string]): boolean =>
    components.some((component) => component.name === name && component.version === version);
  expect(Object.entries(dependencies).filter((each) => !has(each))).toEqual([]);
  const node = devDependencies['node'] ?? '';
  expect(components.filter(({ name }) => name === 'node')).toEqual([
    expect.objectContaining({
      cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
      purl: `pkg:generic/node@${node}`,
    }),
  ]);
  expect(Object.entries(devDependencies).filter(([name, version]) => name !== 'node' && has([name, version]))).toEqual(
    [],
  );
});

it('the bill of materials has the minimum elements of NTIA, and is the same for the same build', () => {
  const parts = { builtAt: new Date(0), node: 'package.json' };

  const { metadata, serialNumber, components, dependencies } = billOfMaterials(parts);

  expect(metadata).toMatchObject({
    timestamp: '1970-01-01T00:00:00.000Z',
    tools: { components: [{ version: '0.1.0' }] },
  });
  expect(serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect(billOfMaterials(parts).serialNumber).toBe(serialNumber);
  expect(billOfMaterials({ ...parts, builtAt: new Date(1_000) }).serialNumber).not.toBe(serialNumber);
  for (const each of components) expect(each, each.name).toMatchObject({ licenses: [{}] });
  const reached = new Set<string>();
  const follow = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    dependencies.find((each) => each.ref === ref)?.dependsOn.forEach(follow);
  };
  follow(metadata.component['bom-ref']);
  expect(components.map((each) => each['bom-ref']).filter((ref) => !reached.has(ref))).toEqual([]);
});

it('the bill of materials has the digest of Node.js, and its libraries with version and licence', () => {
  const [node] = billOfMaterials({ builtAt: new Date(0), node: 'package.json' }).components;

  const digest = createHash('sha256').update(readFileSync('package.json')).digest('hex');
  expect(node).toMatchObject({ hashes: [{ alg: 'SHA-256', content: digest }] });
  // Numbers of interfaces, and data in ICU.
  const noLibraries = ['node', 'modules', 'napi', 'cldr', 'tz', 'unicode'];
  const carried = Object.entries(process.versions).filter(([name, found]) => found && !noLibraries.includes(name));
  expect(node?.['components']).toEqual(
    carried.map(
      ([name, version]) => expect.objectContaining({ name, version, licenses: [expect.anything()] }) as unknown,
    ),
  );
});
