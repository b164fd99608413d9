import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Debian } from './debian.ts';
import { run } from '../run-program.ts';

/** The libraries of C++ programs, for both images. */
const libraries = ['base-files', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libstdc++6'];

/**
 * Creates a stand-in for the image `node`: its Debian as far as the build needs it, this Node.js,
 * and npm with the certificate authorities of this machine. Returns the environment of the image.
 */
export function layNode(debian: Debian, folder: string): readonly string[] {
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
  debian.unpack([...libraries, ...shell, ...forThem], folder);
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
export function layBase(debian: Debian, folder: string): void {
  debian.unpack([...libraries, 'ca-certificates', 'libgomp1', 'libssl3t64', 'netbase', 'tzdata'], folder);
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
