import { readFileSync, writeFileSync } from 'node:fs';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly devDependencies: Readonly<Record<'node', string>>;
}

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly license?: string;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** A component of CycloneDX 1.5. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly [field: string]: unknown;
}

export const billFile = 'zlb-exporter.cdx.json';

/**
 * Returns the packages that run and Node.js as CycloneDX, without what is for tests, from the lock
 * file. The same commit gives the same bill, which therefore has no serial number and no time.
 * `npm sbom` leaves out what ships and is used by a test as well (npm/cli issue 7909), and npm 9
 * does not have it.
 */
export function billOfMaterials() {
  const { name, version, description, license, devDependencies } = readJson<Manifest>('package.json');
  const shipped = Object.entries(readJson<LockFile>('package-lock.json').packages).filter(
    ([path, { dev }]) => path !== '' && !dev,
  );
  const purl = `pkg:npm/${name}@${version}`;
  const own: Component = { type: 'application', 'bom-ref': purl, name, version, description, purl };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...own, ...licensed(license) } },
    components: [
      nodeComponent(devDependencies.node),
      ...shipped.map(([path, locked]) => packageComponent(path, locked)),
    ],
  };
}

function packageComponent(path: string, { version, integrity, license }: LockedPackage): Component {
  const name = path.replace(/^.*node_modules\//, '');
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, digest = ''] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  const hashes = digest === '' ? [] : [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }];
  // A package may be there twice, below two others.
  return { type: 'library', 'bom-ref': path, name, version, purl, hashes, ...licensed(license) };
}

/** The Node.js in packages and image, by the names under which scanners know its advisories. */
function nodeComponent(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  return {
    type: 'application',
    'bom-ref': purl,
    name: 'node',
    version,
    description: 'Node.js, with V8, OpenSSL, ICU and others: in the packages and the image, not in the npm package',
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl,
    ...licensed('MIT'),
  };
}

function licensed(license: string | undefined): object {
  return license === undefined ? {} : { licenses: [{ expression: license }] };
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as Content;
}

if (import.meta.main) {
  const bill = billOfMaterials();
  writeFileSync(new URL(`../${billFile}`, import.meta.url), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${billFile}: Node.js and ${bill.components.length - 1} packages`);
}
