import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './documents.ts';

/** The programs in the commands of the documents, besides ours. */
export const neededPrograms: readonly string[] = [
  'jq',
  'curl',
  'openssl',
  'prometheus',
  'promtool',
  'prometheus-alertmanager',
  'amtool',
];
const everyday: readonly string[] =
  'awk bash cat cut date df diff env grep head ls mktemp mv sed sha256sum sleep sort tail tee tr uniq wc'.split(' ');

/**
 * Fills a folder that is the whole path of the documents' shell. It has programs that read, and
 * none that change the machine, so that a block without its mark does no harm.
 */
export function layOutPrograms(folder: string): void {
  for (const name of [...neededPrograms, ...everyday]) {
    const path = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim();
    if (path !== '') symlinkSync(path, join(folder, name));
  }
  writeFileSync(join(folder, 'zlb-exporter'), zlbExporter, { mode: 0o755 });
}

const program = `"${process.execPath}" "${root}src/main.ts"`;

// The program from the clone. It agrees to every change of an appliance and every plan that it
// approves, as a reader at a terminal does, and it stops an exporter once that listens.
const zlbExporter = `#!/bin/bash
case "$1" in
  admin)
    case "$2 $3" in
      'changes approve')
        digest=$(${program} admin changes show "$4" --json | jq -r .digest)
        set -- "$@" --yes --digest="$digest" ;;
    esac
    case "$2" in
      --* | appliances | audit | changes | freeze | frozen | operations | parameters | unfreeze | whoami) ;;
      *) case " $* " in *' --dry-run '* | *' --yes '*) ;; *) set -- "$@" --yes ;; esac ;;
    esac
    exec ${program} "$@" ;;
  check | fingerprint | healthcheck | history | audit | plugin | token | --help | --version)
    exec ${program} "$@" ;;
esac
log=$(mktemp)
${program} "$@" --web.listen-address=127.0.0.1:0 >"$log" 2>&1 &
exporter=$!
until grep -qE '"msg":"listening"|Stop with Ctrl-C' "$log"; do
  kill -0 $exporter 2>/dev/null || { cat "$log"; wait $exporter; exit; }
  sleep 0.05
done
kill -TERM $exporter
cat "$log"
wait $exporter
`;
