import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Puts the packages for other platforms back into the lock file. A registry that does not hold them
 * makes npm leave them out, and `npm ci` then refuses the file everywhere. Named by version and
 * platform alone, they are fetched only where they fit.
 */
interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockedPackage> };

const missing = Object.entries(lock.packages).flatMap(([owner, { dev, optionalDependencies = {} }]) =>
  owner === ''
    ? []
    : Object.entries(optionalDependencies)
        .filter(([name]) => !(`node_modules/${name}` in lock.packages))
        .map(([name, version]): [string, LockedPackage] => [
          `node_modules/${name}`,
          { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) },
        ]),
);
lock.packages = Object.fromEntries(
  [...Object.entries(lock.packages), ...missing].sort(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1)),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} packages for other platforms added to the lock file`);

/** Reads `…-linux-arm64-musl` as npm's os, cpu and libc. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const find = (candidates: readonly string[]): string | undefined => candidates.find((each) => words.includes(each));
  const os = find(['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']);
  const cpu = find(['arm64', 'x64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x']);
  if (!os || !cpu) throw new Error(`no platform in the name of ${name}`);
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc';
  return { os: [os], cpu: [cpu], ...(os === 'linux' ? { libc: [libc] } : {}) };
}
