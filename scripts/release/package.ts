import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildArchive } from './archive.ts';
import { buildDebian } from './debian.ts';
import { layTree, readFacts } from './tree.ts';
import { buildRpm } from './rpm.ts';
import { ProgramError } from '../run-program.ts';

// Builds the packages for this platform from dist/, into release/ or the given folder. A package
// whose program is not installed is left out, and the exit code is then 1.
const [target = 'release'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'zlb-release-'));
try {
  mkdirSync(target, { recursive: true });
  const facts = readFacts();
  const tree = join(folder, 'tree');
  layTree(tree, facts);
  const parts = { tree, folder, facts };
  attempt('the Debian package (dpkg-deb)', () => buildDebian(parts, target));
  attempt('the RPM (rpmbuild; Debian: apt-get install rpm)', () => buildRpm(parts, target));
  attempt('the archive (tar)', () => buildArchive(folder, facts, target));
} finally {
  rmSync(folder, { recursive: true });
}

function attempt(what: string, build: () => string): void {
  try {
    const file = build();
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    console.error(`not built: ${what}: ${error.message}`);
    process.exitCode = 1;
  }
}
