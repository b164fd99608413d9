import { cpSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from '../run-program.ts';
import { type Facts, type PackageParts, programs, settle, writeFile } from './tree.ts';

/** The names that Debian gives to processors which Node.js names otherwise. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64' };

/** Builds the Debian package in a folder; returns its path. */
export function buildDebian({ tree, folder, facts }: PackageParts, target: string): string {
  const { version, builtAt } = facts;
  const root = join(folder, 'debian');
  cpSync(tree, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  addDocuments(root, facts);
  writeFile(join(root, 'DEBIAN/control'), control(root, facts));
  writeFile(join(root, 'DEBIAN/conffiles'), '/etc/zlb-exporter/environment\n/etc/zlb-exporter/zlb.yml\n');
  const scripts = maintainerScripts();
  for (const [name, text] of Object.entries(scripts)) writeFile(join(root, 'DEBIAN', name), text);
  settle(root, [...programs, ...Object.keys(scripts).map((name) => join('DEBIAN', name))], builtAt);
  // Read by systemd as root.
  run('chmod', ['600', join(root, 'etc/zlb-exporter/environment')]);
  const file = join(target, `zlb-exporter_${debianVersion(version)}_${architecture(facts)}.deb`);
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z3', '--build', root, file], {
    env: { SOURCE_DATE_EPOCH: String(Math.floor(builtAt.getTime() / 1_000)) },
  });
  return file;
}

/** Returns a version that sorts before the release, if it is one before the release. */
function debianVersion(version: string): string {
  return version.replace('-', '~');
}

function architecture({ target: { arch } }: Facts): string {
  return architectures[arch] ?? arch;
}

function control(root: string, facts: Facts): string {
  const { version, maintainer, homepage, description } = facts;
  const bytes = globSync('**', { cwd: root }).reduce((sum, file) => sum + lstatSync(join(root, file)).size, 0);
  return [
    'Package: zlb-exporter',
    `Version: ${debianVersion(version)}`,
    `Architecture: ${architecture(facts)}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${Math.ceil(bytes / 1_024)}`,
    // The libraries of Node.js, useradd for the user, and kill for a reload.
    'Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9), passwd, procps',
    'Section: net',
    'Priority: optional',
    `Homepage: ${homepage}`,
    'Description: Prometheus exporter and admin gateway for load balancers',
    ...wrapped(`${description}.`).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

/** Breaks a text into lines that fit a terminal. */
function wrapped(text: string): readonly string[] {
  return text.match(/.{1,78}(?: |$)/g)?.map((line) => line.trim()) ?? [];
}

/** Adds what Debian's policy asks for. */
function addDocuments(root: string, { version, maintainer, homepage, license, builtAt }: Facts): void {
  const documents = join(root, 'usr/share/doc/zlb-exporter');
  const date = builtAt.toUTCString().replace('GMT', '+0000');
  const changes = `zlb-exporter (${debianVersion(version)}) unstable; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n -- ${maintainer}  ${date}\n`;
  writeFile(join(documents, 'changelog.gz'), gzipSync(changes, { level: 9 }));
  writeFile(
    join(documents, 'copyright'),
    [
      'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
      'Upstream-Name: zlb-exporter',
      `Source: ${homepage}`,
      '',
      'Files: *',
      `Copyright: ${builtAt.getUTCFullYear()} the authors of zlb-exporter; of the packages in`,
      ' /usr/lib/zlb-exporter/node_modules, which have their licences beside them, and of Node.js,',
      ' whose licences are in /usr/lib/zlb-exporter/bin/LICENSE',
      'Comment: Their authors ship these packages without the text of their licence:',
      ...withoutLicenceText(join(root, 'usr/lib/zlb-exporter')).map((name) => ` ${name}`),
      `License: ${license}`,
      ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.',
      '',
    ].join('\n'),
  );
  cpSync('deploy/packages/lintian-overrides', join(root, 'usr/share/lintian/overrides/zlb-exporter'));
}

/** Names the packages without the text of their licence, with its name: `left-pad (MIT)`. */
function withoutLicenceText(folder: string): readonly string[] {
  return globSync('**/node_modules/{,@*/}*/package.json', { cwd: folder }).flatMap((file) => {
    const { name, license } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, string>;
    const hasText = readdirSync(join(folder, dirname(file))).some((beside) => /^(?:licen[cs]e|copying)/i.test(beside));
    return hasText ? [] : [`${name} (${license})`];
  });
}

function maintainerScripts(): Readonly<Record<string, string>> {
  const script = (name: string): string => readFileSync(`deploy/packages/${name}.sh`, 'utf8');
  const reload = 'if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi\n';
  return {
    postinst: `#!/bin/sh\nset -e\n[ "$1" = configure ] || exit 0\nbefore=$2\n${script('after-install')}`,
    prerm: `#!/bin/sh\nset -e\n[ "$1" = remove ] || exit 0\n${script('before-remove')}`,
    postrm: `#!/bin/sh\nset -e\n${reload}[ "$1" = purge ] || exit 0\n${script('after-purge')}`,
  };
}
