import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block } from './documents.ts';
import type { Machine } from './machine.ts';

export interface Typed {
  /** `docs/operations.md:130: exit code 1: promtool check …`, and what was printed. */
  readonly failures: readonly string[];
  readonly printed: string;
}

/** Somebody at a shell: what one block sets, the next one knows. */
export interface Shell {
  type(block: Block): Promise<Typed>;
}

const patienceMs = 60_000;

// Each command that fails is told with its line, and the next one follows, as at a prompt.
const prompt = `
set -E -o pipefail -a
trap 'printf "%s %s\\n" "$?" "$LINENO" >>failures' ERR
trap 'env -0 >environment' EXIT
cd "$1"
. "$2"
`;

export function openShell(
  { folder, env, substitutions }: Machine,
  variables: Readonly<Record<string, string>> = {},
): Shell {
  let current: Readonly<Record<string, string>> = { ...env, ...variables };
  const path = (name: string) => join(folder, name);

  return {
    async type(block) {
      const commands = commandsOf(block);
      const typed = substitutions.reduce((text, [documented, here]) => text.replaceAll(documented, here), commands);
      writeFileSync(path('block.sh'), `${typed}\n`);
      writeFileSync(path('failures'), '');
      const child = spawn(
        'bash',
        [
          '-c',
          prompt.replaceAll(/\b(failures|environment)\b/g, `"${folder}/$1"`),
          'bash',
          current['PWD'] ?? folder,
          path('block.sh'),
        ],
        {
          env: current,
          stdio: ['ignore', 'pipe', 'pipe'],
          timeout: patienceMs,
        },
      );
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      current = environmentIn(readFileSync(path('environment'), 'utf8'));
      const told = readFileSync(path('failures'), 'utf8').trimEnd();
      const failures = told
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [exitCode, lineNumber = 0] = line.split(' ').map(Number);
          return `${block.file}:${block.line + lineNumber}: exit code ${exitCode}: ${commands.split('\n')[lineNumber - 1]?.trim()}`;
        });
      if (code === null) failures.push(`${block.file}:${block.line}: it did not end within a minute`);
      return { failures, printed };
    },
  };
}

function commandsOf({ text }: Block): string {
  return text;
}

function environmentIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\0')
      .filter(Boolean)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
