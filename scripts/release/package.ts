import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProgramError, run } from '../run-program.ts';
import { buildArchive } from './archive.ts';
import { buildDebian } from './debian.ts';
import { missingTools, packageKinds } from './kinds.ts';
import { buildRpm } from './rpm.ts';
import { layTree, type PackageParts, readFacts } from './tree.ts';

// Builds packages for this platform into release/: `npm run package`, or `npm run package -- deb`.
const builders: Readonly<Record<string, (parts: PackageParts, target: string) => string>> = {
  deb: buildDebian,
  rpm: buildRpm,
  archive: ({ folder, facts }, target) => buildArchive(folder, facts, target),
};
const folder = mkdtempSync(join(tmpdir(), 'zlb-release-'));
try {
  const kinds = packageKinds(process.argv.slice(2));
  const missing = missingTools(kinds, process.env['PATH'] ?? '');
  if (missing !== undefined) throw new ProgramError(missing);
  run('npm', ['run', 'build']);
  const parts = { tree: join(folder, 'tree'), folder, facts: readFacts() };
  layTree(parts.tree, parts.facts);
  mkdirSync('release', { recursive: true });
  for (const kind of kinds) {
    const file = builders[kind]?.(parts, 'release') ?? '';
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  }
} catch (error) {
  if (!(error instanceof ProgramError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
