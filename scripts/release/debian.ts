import { cpSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Facts, settle, writeFile } from './tree.ts';

/** Breaks a text into lines that fit a terminal. */
export function wrapped(text: string): readonly string[] {
  return text.match(/.{1,78}(?: |$)/g)?.map((line) => line.trim()) ?? [];
}

/** Writes the documents that Debian's policy asks for into a folder, beside the files of `tree`. */
export function layDebianDocuments(root: string, tree: string, facts: Facts): void {
  const { version, maintainer, homepage, license, builtAt } = facts;
  const documents = join(root, 'usr/share/doc/zlb-exporter');
  const date = builtAt.toUTCString().replace('GMT', '+0000');
  const changes = `zlb-exporter (${version.replace('-', '~')}) unstable; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n -- ${maintainer}  ${date}\n`;
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
      ...withoutLicenceText(join(tree, 'usr/lib/zlb-exporter')).map((name) => ` ${name}`),
      `License: ${license}`,
      ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.',
      '',
    ].join('\n'),
  );
  cpSync('deploy/packages/lintian-overrides', join(root, 'usr/share/lintian/overrides/zlb-exporter'));
  settle(root, [], builtAt);
}

/** Names the packages without the text of their licence, with its name: `left-pad (MIT)`. */
function withoutLicenceText(folder: string): readonly string[] {
  return globSync('**/node_modules/{,@*/}*/package.json', { cwd: folder }).flatMap((file) => {
    const { name, license } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, string>;
    const hasText = readdirSync(join(folder, dirname(file))).some((beside) => /^(?:licen[cs]e|copying)/i.test(beside));
    return hasText ? [] : [`${name} (${license})`];
  });
}
