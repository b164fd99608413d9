import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of CycloneDX 1.5 that is read or changed here. */
interface BillOfMaterials {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string; readonly version: string } };
  readonly components: readonly Component[];
}

interface Component {
  readonly name: string;
  readonly version: string;
}

export const billFile = 'zlb-exporter.cdx.json';

interface Manifest {
  readonly name: string;
  readonly devDependencies: Readonly<Record<'node', string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/**
 * Returns the packages that run and Node.js as CycloneDX, without what is for tests. The same
 * commit gives the same bill, which therefore has no serial number and no time. Throws if npm
 * fails.
 */
export function billOfMaterials(): BillOfMaterials {
  const { devDependencies, ...manifest } = readJson<Manifest>('package.json');
  const lock = readJson<LockFile>('package-lock.json');
  const { '': root, ...packages } = lock.packages;
  const shipped = Object.entries(packages).filter(([, { dev }]) => !dev);
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bill-'));
  try {
    // `npm sbom --omit=dev` would do, did it not leave out what ships and is used by a test as well
    // (npm/cli issue 7909): here, ajv and yaml. So npm is shown a project without tests.
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({
        ...lock,
        packages: { '': { ...root, devDependencies: undefined }, ...Object.fromEntries(shipped) },
      }),
    );
    const text = execFileSync(
      'npm',
      ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
      { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const bill = JSON.parse(text) as BillOfMaterials;
    delete bill.serialNumber;
    delete bill.metadata.timestamp;
    // npm takes it from the folder.
    bill.metadata.component.name = manifest.name;
    return { ...bill, components: [nodeComponent(devDependencies.node), ...bill.components] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The Node.js in packages and image, by the names under which scanners know its advisories. */
function nodeComponent(version: string): Component & Readonly<Record<string, unknown>> {
  return {
    'bom-ref': `node@${version}`,
    type: 'application',
    name: 'node',
    version,
    description: 'Node.js, with V8, OpenSSL, ICU and others: in the packages and the image, not in the npm package',
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as Content;
}

if (import.meta.main) {
  const bill = billOfMaterials();
  writeFileSync(new URL(`../${billFile}`, import.meta.url), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${billFile}: Node.js and ${bill.components.length - 1} packages`);
}
