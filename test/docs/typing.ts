import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block } from './documents.ts';
import type { Machine } from './machine.ts';

export interface Typed {
  /** Each command that failed: `docs/operations.md:130: exit code 1: promtool check …`. */
  readonly failures: readonly string[];
  /** Both outputs, with the addresses that the documents have. */
  readonly printed: string;
}

/** Somebody at a shell: what one block sets, the next one knows. */
export interface Shell {
  /** Types lines that stand in a file from a line on. */
  type(lines: Pick<Block, 'file' | 'line' | 'text'>): Promise<Typed>;
  /** Another shell that knows what this one knows now. */
  another(): Shell;
}

const patienceMs = 60_000;

// Each command that fails is reported with its line, and the next one follows, as at a prompt. Bash
// reports no failure before a `&&`, so that the exit code is checked again at the beginning of the
// next line. Variables are exported, and so persist. All of it is one line, so that the typed text
// begins with the first.
const prompt = [
  'set -E -o pipefail -o allexport',
  '_told=0 _line=1',
  `trap 'echo "$? $LINENO" >>"$ZLB_DOCS_FAILURES"; _told=$LINENO' ERR`,
  `trap '_code=$?; ((LINENO == _line)) || { ((_code == 0 || _told == _line)) || echo "$_code $_line" >>"$ZLB_DOCS_FAILURES"; _line=$LINENO; }' DEBUG`,
  `trap 'env -0 >"$ZLB_DOCS_ENVIRONMENT"' EXIT`,
  'eval "$1"',
].join('; ');

/** A shell on the machine, with the variables of its environment. */
export function openShell(machine: Machine): Shell {
  const { folder, env, substitutions } = machine;
  const files = {
    failures: join(folder, '.failures'),
    environment: join(folder, '.env'),
  };
  let current: Readonly<Record<string, string>> = {
    PWD: folder,
    ...env,
    ZLB_DOCS_FAILURES: files.failures,
    ZLB_DOCS_ENVIRONMENT: files.environment,
  };

  return {
    another: () => openShell({ ...machine, env: current }),
    async type({ file, line, text }) {
      const here = substitutions.reduce((before, { written, real }) => before.replaceAll(written, real), text);
      writeFileSync(files.failures, '');
      const child = spawn('/bin/bash', ['-c', prompt, 'bash', `${here}\ntrue`], {
        cwd: current['PWD'],
        env: current,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: patienceMs,
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
        });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === null) return { failures: [`${file}:${line}: it did not end within a minute`], printed };

      current = environmentIn(readFileSync(files.environment, 'utf8'));
      const told = readFileSync(files.failures, 'utf8').split('\n').filter(Boolean);
      return {
        failures: told.map((failure) => {
          const [exitCode, number = 0] = failure.split(' ').map(Number);
          const command = text.split('\n')[number - 1]?.trim();
          // No such program: none of those in programs.ts.
          const remedy = exitCode === 127 ? '; not run here, so mark the block: <!-- not run: REASON -->' : '';
          return `${file}:${line + number}: exit code ${exitCode}: ${command}${remedy}`;
        }),
        printed: substitutions.reduce(
          (before, { real, shown }) => (shown === undefined ? before : before.replaceAll(real, shown)),
          printed,
        ),
      };
    },
  };
}

function environmentIn(text: string): Readonly<Record<string, string>> {
  const entries = text.split('\0').filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
