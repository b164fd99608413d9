import { root } from './documents.ts';

const program = `"${process.execPath}" "${root}src/main.ts"`;

/**
 * What stands on the path as `zlb-exporter` and as `npm`: the program from the clone, with a reader beside it who agrees to
 * what a recipe shows, and who stops an exporter once it listens.
 */
export function typedCommand(name: 'zlb-exporter' | 'npm'): string {
  return name === 'npm' ? npm : zlbExporter;
}

const zlbExporter = `#!/bin/bash
case "$1" in
  admin)
    case "$3" in
      drain-backend | restore-backend | restart-farm | replace-certificate | install-activation | backup)
        case " $* " in *' --dry-run '* | *' --yes '*) ;; *) set -- "$@" --yes ;; esac ;;
    esac
    exec ${program} "$@" ;;
  check | fingerprint | healthcheck | audit | token | --help | --version)
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

const npm = `#!/bin/bash
[ "$1" = start ] || { echo "only npm start is known here; mark the block: <!-- not run: REASON -->" >&2; exit 127; }
shift
while [ "$1" = --silent ] || [ "$1" = -- ]; do shift; done
exec zlb-exporter "$@"
`;
