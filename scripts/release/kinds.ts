import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ProgramError } from '../run-program.ts';

/** The programs that each kind of package needs. */
const toolsOf: Readonly<Record<string, readonly string[]>> = {
  deb: ['strip', 'dpkg-deb'],
  rpm: ['strip', 'rpmbuild'],
  archive: ['strip', 'tar', 'gzip'],
};

/** The Debian packages of programs with another name. */
const debianPackages: Readonly<Record<string, string>> = { strip: 'binutils', 'dpkg-deb': 'dpkg', rpmbuild: 'rpm' };

/** Returns the kinds of package that the words name, or else all; throws for other words. */
export function packageKinds(words: readonly string[]): readonly string[] {
  const kinds = Object.keys(toolsOf);
  const unknown = words.filter((word) => !kinds.includes(word));
  if (unknown.length > 0)
    throw new ProgramError(`there is no package of the kind ${unknown.join(', ')}; choose from ${kinds.join(', ')}`);
  return words.length > 0 ? kinds.filter((kind) => words.includes(kind)) : kinds;
}

/** Returns the sentence about the programs that are not on the path; undefined if all are. */
export function missingTools(kinds: readonly string[], path: string): string | undefined {
  const folders = path.split(delimiter);
  const isMissing = (tool: string): boolean => !folders.some((folder) => existsSync(join(folder, tool)));
  const missing = [...new Set(kinds.flatMap((kind) => toolsOf[kind] ?? []))].filter(isMissing);
  if (missing.length === 0) return undefined;
  const packages = missing.map((tool) => debianPackages[tool] ?? tool);
  const possible = Object.keys(toolsOf).filter((kind) => !(toolsOf[kind] ?? []).some(isMissing));
  const hint = possible.length > 0 ? `; without them: npm run package -- ${possible.join(' ')}` : '';
  return `npm run package needs ${missing.join(', ')}, which are not installed. On Debian: apt-get install ${packages.join(' ')}${hint}`;
}
