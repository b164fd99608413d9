import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bashCompletion, fishCompletion, zshCompletion } from './completions.ts';
import type { Facts } from './facts.ts';
import { manPage } from './man-page.ts';
import { layDocuments, layProgram, settle, writeFile } from './program.ts';

/** The place of the program in an installed package. */
const program = '/usr/lib/zlb-exporter';

/** The files that can be started. */
export const programs: readonly string[] = ['usr/bin/zlb-exporter', 'usr/lib/zlb-exporter/bin/node'];

/** Lays everything that an installation brings into a folder, as it will be below `/`. */
export function layTree(root: string, facts: Facts): void {
  layProgram(join(root, program));
  writeFile(join(root, 'usr/bin/zlb-exporter'), launcher(facts.revision));
  writeFile(join(root, 'usr/lib/systemd/system/zlb-exporter.service'), packagedUnit(facts.revision));
  writeFile(join(root, 'etc/zlb-exporter/zlb.yml'), readFileSync('deploy/packages/zlb.yml', 'utf8'));
  writeFile(join(root, 'usr/share/bash-completion/completions/zlb-exporter'), bashCompletion());
  writeFile(join(root, 'usr/share/zsh/vendor-completions/_zlb-exporter'), zshCompletion());
  writeFile(join(root, 'usr/share/fish/vendor_completions.d/zlb-exporter.fish'), fishCompletion());
  writeFile(join(root, 'usr/share/man/man1/zlb-exporter.1.gz'), gzipSync(manPage(facts.version), { level: 9 }));
  layDocuments(join(root, 'usr/share/doc/zlb-exporter'));
  cpSync('deploy/systemd/environment.example', join(root, 'etc/zlb-exporter/environment'));
  mkdirSync(join(root, 'var/lib/zlb-exporter'), { recursive: true });
  settle(root, programs, facts.builtAt);
}

/** Returns the command, which starts the Node.js of the package. */
function launcher(revision: string): string {
  return [
    '#!/bin/sh',
    `ZLB_EXPORTER_REVISION=${revision} NODE_ENV=production exec ${program}/bin/node ${program}/dist/src/main.js "$@"`,
    '',
  ].join('\n');
}

/** Returns the unit of deploy/systemd with the places and the user of the package. */
export function packagedUnit(revision: string): string {
  const changes: readonly (readonly [RegExp, string])[] = [
    [/^#.*\n/, ''],
    [/^Documentation=.*/m, 'Documentation=man:zlb-exporter(1) file:///usr/share/doc/zlb-exporter/README.md'],
    [/^Environment=NODE_ENV=production$/m, `$& ZLB_EXPORTER_REVISION=${revision}`],
    [/^ExecStart=\/usr\/bin\/node /m, `ExecStart=${program}/bin/node `],
    [/\/opt\/zlb-exporter/g, program],
    [/^(?:#.*\n)*DynamicUser=yes$/m, 'User=zlb-exporter\nGroup=zlb-exporter'],
    [/^(?:#.*\n)*#LoadCredential=.*\n/m, ''],
  ];
  return changes.reduce(
    (unit, [from, to]) => {
      const changed = unit.replace(from, to);
      if (changed === unit) throw new Error(`deploy/systemd/zlb-exporter.service has no ${from}`);
      return changed;
    },
    readFileSync('deploy/systemd/zlb-exporter.service', 'utf8'),
  );
}
