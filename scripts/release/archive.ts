import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { completionOf } from '../../src/commands/completion/completion.ts';
import { run } from '../run-program.ts';
import { layDocuments, type PackageParts, layProgram, settle, writeFile } from './tree.ts';
import { manPage } from './man-page.ts';

/** Builds the archive that runs from any folder; returns its path. */
export function buildArchive({ folder, facts }: PackageParts, target: string): string {
  const name = `zlb-exporter-${facts.version}-linux-${facts.target.arch}`;
  const root = join(folder, name);
  layProgram(root, facts.target);
  layDocuments(root, root, facts);
  cpSync('deploy/systemd', join(root, 'deploy/systemd'), { recursive: true });
  writeFile(join(root, 'bin/zlb-exporter'), launcherBeside(facts.revision));
  writeFile(join(root, 'share/man/man1/zlb-exporter.1'), manPage(facts.version, facts.builtAt));
  writeFile(join(root, 'share/bash-completion/completions/zlb-exporter'), completionOf.bash());
  writeFile(join(root, 'share/zsh/site-functions/_zlb-exporter'), completionOf.zsh());
  writeFile(join(root, 'share/fish/vendor_completions.d/zlb-exporter.fish'), completionOf.fish());
  settle(root, ['bin/node', 'bin/zlb-exporter', 'deploy/systemd/install.sh'], facts.builtAt);
  const file = join(target, `${name}.tar.gz`);
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  run('tar', [...same, '--use-compress-program=gzip -n', '-C', folder, '-cf', file, name]);
  return file;
}

/** Returns the command, which finds the program beside itself, also behind a link. */
function launcherBeside(revision: string): string {
  return `#!/bin/sh
folder=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
ZLB_EXPORTER_REVISION=${revision} NODE_ENV=production exec "$folder/bin/node" --max-semi-space-size=2 "$folder/dist/src/main.js" "$@"
`;
}
