import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../run-program.ts';
import { layDebianDocuments, wrapped } from './debian.ts';
import type { Facts, PackageParts } from './tree.ts';

type Kind = 'deb' | 'rpm';

/** One file, link or folder of a package, as nfpm reads it. */
interface Content {
  readonly dst: string;
  readonly type: string;
  readonly src?: string;
  readonly file_info?: { readonly mode: number };
}

/** The names that nfpm, like Go, gives to processors which Node.js names otherwise. */
const processors: Readonly<Record<string, string>> = { x64: 'amd64' };

const summary = 'Prometheus exporter and admin gateway for load balancers';

/** Builds the Debian package; returns its path. Needs nfpm, like the RPM. */
export function buildDebian(parts: PackageParts, target: string): string {
  const { tree, facts } = parts;
  const documents = join(parts.folder, 'debian');
  layDebianDocuments(documents, tree, facts);
  return packageWith(parts, target, 'deb', {
    description: `${summary}\n${wrapped(`${facts.description}.`).join('\n')}`,
    contents: [...contentsOf(tree, 'deb'), ...contentsOf(documents, 'deb').filter(({ type }) => type === 'file')],
    // The libraries of Node.js, useradd for the user, and kill for a reload.
    depends: ['libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 9)', 'passwd', 'procps'],
    deb: { compression: 'xz' },
  });
}

/** Builds the RPM; returns its path. */
export function buildRpm(parts: PackageParts, target: string): string {
  return packageWith(parts, target, 'rpm', {
    description: `${parts.facts.description}.`,
    contents: contentsOf(parts.tree, 'rpm'),
    // The shell of the scripts, the libraries of Node.js, and useradd.
    depends: ['/bin/sh', 'glibc >= 2.28', 'libstdc++', 'libgcc', 'shadow-utils'],
    rpm: { summary, compression: 'zstd:19', buildhost: 'localhost' },
  });
}

/** Has nfpm write a package of one kind into the folder `target`; returns its path. */
function packageWith({ folder, facts }: PackageParts, target: string, kind: Kind, ofKind: object): string {
  const config = join(folder, `${kind}.json`);
  const built = join(folder, kind);
  mkdirSync(built);
  writeFileSync(config, JSON.stringify({ ...common(facts), ...ofKind }));
  run('nfpm', ['package', `--config=${config}`, `--packager=${kind}`, `--target=${built}`], {
    env: { SOURCE_DATE_EPOCH: String(Math.floor(facts.builtAt.getTime() / 1_000)) },
  });
  const [name = ''] = readdirSync(built);
  const file = join(target, name);
  copyFileSync(join(built, name), file);
  return file;
}

/** Returns what packages of both kinds say about themselves, and their scripts. */
function common({ version, target, maintainer, homepage, license }: Facts): object {
  const script = (name: string): string => resolve(`deploy/packages/${name}.sh`);
  return {
    name: 'zlb-exporter',
    // nfpm writes 1.2.3-rc.1 as 1.2.3~rc.1, which sorts before 1.2.3.
    version,
    arch: processors[target.arch] ?? target.arch,
    maintainer,
    homepage,
    license,
    section: 'net',
    priority: 'optional',
    disable_globbing: true,
    scripts: {
      postinstall: script('after-install'),
      preremove: script('before-remove'),
      postremove: script('after-remove'),
    },
  };
}

/**
 * Lists everything below a folder, which is laid out as below `/`. An RPM owns only what it names,
 * so folders of other packages are left out.
 */
function contentsOf(root: string, kind: Kind): readonly Content[] {
  const found = run('find', [resolve(root), '-mindepth', '1', '-printf', String.raw`%y\t%m\t%P\t%l\n`]).split('\n');
  return found.flatMap((line): readonly Content[] => {
    const [type, mode = '', path = '', link = ''] = line.split('\t');
    const dst = placeOf(`/${path}`, kind);
    if (type === 'd') return dst.includes('/zlb-exporter') ? [{ dst, type: 'dir' }] : [];
    const file_info = { mode: Number.parseInt(mode, 8) };
    if (type === 'l') return [{ src: link, dst, type: 'symlink', file_info }];
    return [{ src: resolve(root, path), dst, type: typeOf(dst, kind), file_info }];
  });
}

/** Returns the place of a file in a package; zsh of RPM distributions looks at another folder. */
function placeOf(path: string, kind: Kind): string {
  return kind === 'rpm' ? path.replace('/zsh/vendor-completions/', '/zsh/site-functions/') : path;
}

function typeOf(path: string, kind: Kind): string {
  if (path.startsWith('/etc/')) return 'config|noreplace';
  return kind === 'rpm' && /^\/usr\/share\/(?:doc|man)\//.test(path) ? 'doc' : 'file';
}
