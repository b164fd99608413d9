import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of CycloneDX 1.5 that is read or changed here. */
interface BillOfMaterials {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string; readonly version: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/**
 * Returns the packages that run as CycloneDX, without those for tests. The same commit gives the
 * same bill, which therefore has no serial number and no time. Throws if npm fails.
 */
export function billOfMaterials(): BillOfMaterials {
  const { devDependencies: _, ...manifest } = readJson<{ devDependencies: unknown; name: string }>('package.json');
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
    return bill;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as Content;
}

if (import.meta.main) {
  const file = 'zlb-exporter.cdx.json';
  const bill = billOfMaterials();
  writeFileSync(new URL(`../${file}`, import.meta.url), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${file}: ${bill.components.length} packages`);
}
