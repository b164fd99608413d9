import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { billOfMaterials } from '../../../scripts/sbom.ts';

it('the bill of materials has Node.js under the names of scanners, all packages that run, and none for tests', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;

  const { components } = billOfMaterials();

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
