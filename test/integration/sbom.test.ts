import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { billOfMaterials } from '../../scripts/sbom.ts';

interface LockFile {
  readonly version: string;
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
const bill = billOfMaterials();

describe('the bill of materials', () => {
  it('has every package that ships, and none that only tests', () => {
    const shipped = Object.entries(lock.packages)
      .filter(([path, { dev }]) => path !== '' && !dev)
      .map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')} ${version}`);

    expect(bill.metadata.component).toMatchObject({ name: 'zlb-exporter', version: lock.version });
    expect(bill.components.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(
      [...new Set(shipped)].toSorted(),
    );
    expect(bill.components.map(({ name }) => name)).toContain('yaml');
  });

  it('says of each package where it is found, which bytes it is and under which licence', () => {
    const incomplete = bill.components.filter(
      ({ purl, hashes, licenses }) =>
        !/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/.test(purl) ||
        !hashes.some(({ alg, content }) => alg === 'SHA-512' && /^[0-9a-f]{128}$/.test(content)) ||
        !licenses.some(({ license, expression }) => license?.id ?? expression),
    );

    expect(incomplete).toEqual([]);
  });

  it('names no host that packages were fetched from, but that of its schema and of our homepage', () => {
    const hosts = new Set(JSON.stringify(bill).match(/https?:\/\/[^/"]+/g));

    expect([...hosts]).toEqual(['http://cyclonedx.org', 'https://github.com']);
  });

  it('is the same when it is made again', () => {
    expect(billOfMaterials()).toEqual(bill);
  });
});
