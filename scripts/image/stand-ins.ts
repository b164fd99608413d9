import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../run-program.ts';

/**
 * Unpacks packages of a release of Debian into a folder; what they depend on has to be named too,
 * and none of their scripts runs.
 */
type Unpack = (packages: readonly string[], folder: string) => void;

/**
 * Opens a release at the mirror that this machine uses, without touching what this machine knows of
 * its own release.
 */
export function openDebian(release: string, folder: string): Unpack {
  const parts = { lists: join(folder, 'lists'), cache: join(folder, 'cache'), none: join(folder, 'none') };
  for (const part of Object.values(parts)) mkdirSync(join(part, 'partial'), { recursive: true });
  const mirror = run('apt-get', [
    'indextargets',
    '--format=$(REPO_URI)',
    'Created-By: Packages',
    'Origin: Debian',
    'Label: Debian',
  ]).split('\n')[0];
  const files = {
    sources: join(folder, 'sources.list'),
    status: join(folder, 'status'),
    apt: join(folder, 'apt.conf'),
  };
  writeFileSync(
    files.sources,
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${release} main\n`,
  );
  writeFileSync(files.status, '');
  writeFileSync(
    files.apt,
    [
      `Dir::State "${folder}";`,
      `Dir::State::lists "${parts.lists}";`,
      `Dir::State::status "${files.status}";`,
      `Dir::Cache "${parts.cache}";`,
      `Dir::Etc::sourcelist "${files.sources}";`,
      `Dir::Etc::sourceparts "${parts.none}";`,
      'APT::Sandbox::User "root";',
      '',
    ].join('\n'),
  );
  const env = { APT_CONFIG: files.apt };
  run('apt-get', ['update', '-qq'], { env });

  return (packages, target) => {
    const archives = mkdtempSync(join(folder, 'archives-'));
    mkdirSync(target, { recursive: true });
    run('apt-get', ['download', '-qq', ...packages], { env, cwd: archives });
    // base-files first: it lays the links from /bin and /lib that the others write through.
    const fetched = readdirSync(archives).toSorted(
      (one, other) => Number(other.startsWith('base-files_')) - Number(one.startsWith('base-files_')),
    );
    // tar and not dpkg: that would put a folder in the place of a link.
    const unpack = 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"';
    for (const archive of fetched) run('sh', ['-ec', unpack, 'sh', join(archives, archive), target]);
  };
}

/** The libraries of C++ programs, for both images. */
const libraries = ['base-files', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libstdc++6'];

/**
 * Creates a stand-in for the image `node`: its Debian as far as the build needs it, this Node.js,
 * and npm with the certificate authorities of this machine. Returns the environment of the image.
 */
export function layNode(unpack: Unpack, folder: string): readonly string[] {
  const shell = ['coreutils', 'dash', 'findutils', 'sed'];
  const forThem = [
    'libacl1',
    'libattr1',
    'libcap2',
    'libgmp10',
    'libpcre2-8-0',
    'libselinux1',
    'libssl3t64',
    'libsystemd0',
    'libzstd1',
    'zlib1g',
  ];
  unpack([...libraries, ...shell, ...forThem], folder);
  const local = join(folder, 'usr/local');
  for (const place of ['bin', 'lib/node_modules']) mkdirSync(join(local, place), { recursive: true });
  copyFileSync(process.execPath, join(local, 'bin/node'));
  const npm = dirname(dirname(realpathSync(run('which', ['npm']))));
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  writeUsers(folder);
  const { NODE_EXTRA_CA_CERTS: trusted } = process.env;
  if (!trusted) return [];
  copyFileSync(trusted, join(folder, 'etc/trusted.pem'));
  return ['NODE_EXTRA_CA_CERTS=/etc/trusted.pem'];
}

/** Creates a stand-in for distroless' `cc` from the same packages. */
export function layBase(unpack: Unpack, folder: string): void {
  unpack([...libraries, 'ca-certificates', 'libgomp1', 'libssl3t64', 'netbase', 'tzdata'], folder);
  const trusted = join(folder, 'usr/share/ca-certificates/mozilla');
  const certificates = readdirSync(trusted).map((file) => readFileSync(join(trusted, file), 'utf8'));
  mkdirSync(join(folder, 'etc/ssl/certs'), { recursive: true });
  writeFileSync(join(folder, 'etc/ssl/certs/ca-certificates.crt'), certificates.join(''));
  // Distroless has the data of these packages, not their programs.
  run('sh', ['-ec', 'rm -rf usr/sbin/* usr/bin/*'], { cwd: folder });
  writeUsers(folder);
}

function writeUsers(folder: string): void {
  writeFileSync(
    join(folder, 'etc/passwd'),
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n',
  );
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
}
