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

// Each command that fails is told with its line, and the next one follows, as at a prompt. What is set is exported, and so lasts.
const prompt = `
set -E -o pipefail -o allexport
trap 'echo "$? $LINENO" >>"$ZLB_DOCS_FAILURES"' ERR
trap 'env -0 >"$ZLB_DOCS_ENVIRONMENT"' EXIT
. "$1"
`;

/** A shell on the machine, with the variables of its environment. */
export function openShell(machine: Machine): Shell {
  const { folder, env, substitutions } = machine;
  const files = {
    typed: join(folder, '.typed'),
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
      // Its own exit code is none of a command.
      writeFileSync(files.typed, `${here}\ntrue\n`);
      writeFileSync(files.failures, '');
      const child = spawn('bash', ['-c', prompt, 'bash', files.typed], {
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
          return `${file}:${line + number}: exit code ${exitCode}: ${text.split('\n')[number - 1]?.trim()}`;
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
