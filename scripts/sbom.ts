import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<'node', string>>;
}

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** A component of CycloneDX 1.5. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly [field: string]: unknown;
}

interface NodeComponent extends Component {
  readonly components: readonly Component[];
}

interface BillParts {
  /** The same time gives the same bill. */
  readonly builtAt: Date;
  /** The file of the Node.js that ships. */
  readonly node: string;
}

export const billFile = 'zlb-exporter.cdx.json';

/**
 * Returns the packages that run and Node.js as CycloneDX, without what is for tests, from the lock
 * file: with the minimum elements of NTIA. `npm sbom` leaves out what ships and is used by a test
 * as well (npm/cli issue 7909), and npm 9 does not have it.
 */
export function billOfMaterials({ builtAt, node }: BillParts) {
  const { name, version, description, license, dependencies, devDependencies } = readJson<Manifest>('package.json');
  const locked = readJson<LockFile>('package-lock.json').packages;
  const shipped = Object.entries(locked).filter(([path, { dev }]) => path !== '' && !dev);
  const purl = `pkg:npm/${name}@${version}`;
  const own = { type: 'application', 'bom-ref': purl, name, version, description, purl, ...licensed(license) };
  const ofNode = nodeComponent(devDependencies.node, node);
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: builtAt.toISOString(),
      tools: { components: [{ type: 'application', name: `scripts/sbom.ts of ${name}`, version }] },
      component: own,
    },
    components: [ofNode, ...shipped.map(([path, each]) => packageComponent(path, each))],
    dependencies: [
      { ref: purl, dependsOn: [ofNode['bom-ref'], ...pathsOf('', dependencies, locked)] },
      { ref: ofNode['bom-ref'], dependsOn: ofNode.components.map((each) => each['bom-ref']) },
      ...shipped.map(([path, each]) => ({ ref: path, dependsOn: pathsOf(path, each.dependencies, locked) })),
    ],
  };
  return { ...bill, serialNumber: serialNumberOf(bill) };
}

/** Returns the time of everything that is built: SOURCE_DATE_EPOCH, or that of the commit. */
export function buildTime(): Date {
  const epoch =
    process.env['SOURCE_DATE_EPOCH'] ||
    spawnSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).stdout?.trim();
  return epoch ? new Date(Number(epoch) * 1_000) : new Date();
}

/** Returns the places in the lock file of what a package needs, as Node.js looks for it. */
function pathsOf(
  path: string,
  dependencies: LockedPackage['dependencies'] = {},
  locked: LockFile['packages'],
): readonly string[] {
  return Object.keys(dependencies).flatMap((name) => {
    for (let folder = path; ; folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
      const place = `${folder}${folder && '/'}node_modules/${name}`;
      if (locked[place]) return [place];
      // One for another platform.
      if (folder === '') return [];
    }
  });
}

function packageComponent(path: string, { version, integrity, license }: LockedPackage): Component {
  const name = path.replace(/^.*node_modules\//, '');
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, digest = ''] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  const hashes = digest === '' ? [] : [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }];
  // A package may be there twice, below two others.
  return { type: 'library', 'bom-ref': path, name, version, purl, hashes, ...licensed(license) };
}

/** The licences of the libraries in Node.js, by their names in `process.versions`. */
const nodeLibraries: Readonly<Record<string, string>> = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  icu: 'Unicode-3.0',
  llhttp: 'MIT',
  merve: 'MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0',
  simdutf: 'MIT',
  sqlite: 'blessing',
  undici: 'MIT',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
};

/** The Node.js in packages and image, by the names under which scanners know its advisories. */
function nodeComponent(version: string, file: string): NodeComponent {
  const purl = `pkg:generic/node@${version}`;
  // The Node.js that runs this has them; the scripts of package.json use the one that ships.
  const versions: Readonly<Record<string, string | undefined>> =
    process.versions.node === version ? process.versions : {};
  const components = Object.entries(nodeLibraries).flatMap(([name, license]): Component[] => {
    const found = versions[name];
    return found ? [{ type: 'library', 'bom-ref': `${purl}#${name}`, name, version: found, ...licensed(license) }] : [];
  });
  return {
    type: 'application',
    'bom-ref': purl,
    name: 'node',
    version,
    description: 'Node.js: in the packages and the image, not in the npm package; all licences are in bin/LICENSE',
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl,
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(readFileSync(file)).digest('hex') }],
    ...licensed('MIT'),
    components,
  };
}

function licensed(license: string | undefined): object {
  return license === undefined ? {} : { licenses: [{ expression: license }] };
}

/** Returns a number that is the same for the same bill: a UUID of version 8 (RFC 9562). */
function serialNumberOf(bill: object): string {
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const [, a = '', b = '', c = '', d = '', e = ''] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? [];
  return `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`;
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as Content;
}

if (import.meta.main) {
  const bill = billOfMaterials({ builtAt: buildTime(), node: process.execPath });
  writeFileSync(new URL(`../${billFile}`, import.meta.url), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${billFile}: Node.js and ${bill.components.length - 1} packages`);
}
