import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completionOf } from '../../src/commands/completion/completion.ts';
import type { shells } from '../../src/commands/completion/places.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';
import { hasTerminals, runAtTerminal } from '../support/terminal.ts';

interface ShellWords {
  readonly start: readonly string[];
  /** Defines `zlb-exporter`, which prints what it was called with, and its completion. */
  readonly define: (file: string) => string;
}

const posixFunction = `zlb-exporter() { printf 'called: %s\\n' "$*"; }`;
const shellWords: Readonly<Record<(typeof shells)[number], ShellWords>> = {
  bash: {
    start: ['bash', '--noprofile', '--norc', '-i'],
    define: (file) => `${posixFunction}; source ${file}`,
  },
  zsh: {
    start: ['zsh', '-f', '-i'],
    define: (file) => `${posixFunction}; autoload -Uz compinit; compinit -D -u; source ${file}`,
  },
  fish: {
    start: ['fish', '--no-config', '--interactive'],
    define: (file) => `function zlb-exporter; echo called: $argv; end; source ${file}`,
  },
};

/** A typed line with a tab at its end, and the words that the command then gets. */
const completed = [
  ['fing', 'fingerprint'],
  ['admin chang', 'admin changes'],
  ['admin changes appr', 'admin changes approve'],
  ['admin lb-paris restart-f', 'admin lb-paris restart-farm'],
  ['plugin cert', 'plugin certificate'],
  ['audit ver', 'audit verify'],
  ['check --quie', 'check --quiet'],
  ['--log.level=de', '--log.level=debug'],
  ['--log.format js', '--log.format json'],
  ['check --config.file=watched', 'check --config.file=watched.yml'],
  ['check --config.file watched', 'check --config.file watched.yml'],
  ['audit verify journ', 'audit verify journal.db'],
] as const;

describe.skipIf(!hasTerminals)('shell completion at a terminal', () => {
  for (const [name, { start, define }] of Object.entries(shellWords)) {
    it.skipIf(!isThere(name))(`completes words, flags, values and files in ${name}`, async () => {
      const folder = givenFolder();
      for (const file of ['watched.yml', 'journal.db']) writeFileSync(join(folder, file), '');
      const script = join(folder, 'completion');
      writeFileSync(script, completionOf[name as (typeof shells)[number]]());
      const lines = [`cd ${folder}`, define(script), ...completed.map(([typed]) => `zlb-exporter ${typed}\t`), 'exit'];

      const { screen } = await runAtTerminal(
        start,
        lines.map((line, index) => ({ question: index < 3 ? '' : 'called: ', typed: `${line}\n` })),
        { ...process.env, HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
      );

      const called = [...screen.matchAll(/^called: (.*)$/gm)].map(([, words = '']) => words.trimEnd());
      expect(called).toEqual(completed.map(([, words]) => words));
    });
  }
});
