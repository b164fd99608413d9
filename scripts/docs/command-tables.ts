import { faultLines } from '../../simulator/fault-switch.ts';
import { commands, type Description, exporter } from '../../src/commands/commands.ts';
import { type Flag, labelOf } from '../../src/commands/flag.ts';
import { markdownTable } from './markdown.ts';

const all: readonly (readonly [command: string, Description])[] = [['', exporter], ...Object.entries(commands)];

/** Returns the tables of docs/command-line.md, from the flags and the texts of `--help`. */
export function commandTables(): Readonly<Record<string, string>> {
  return { commands: all.flatMap(section).join('\n\n'), faults: faultTable() };
}

/** The flags of a command, and its exit codes. */
function section([command, { flags, help }]: (typeof all)[number]): readonly string[] {
  const rows = flagRows(flags);
  const codes = /Exit codes: ([^.]+)\./.exec(help)?.[1]?.replaceAll('\n', ' ');
  if (rows.length === 0 && codes === undefined) return [];
  return [
    command === '' ? '## The exporter' : `## ${command}`,
    ...(rows.length === 0 ? [] : [markdownTable(['Flag', 'Meaning'], rows)]),
    ...(codes === undefined ? [] : [`Exit codes: ${codes}.`]),
  ];
}

function flagRows(flags: Description['flags']): readonly (readonly string[])[] {
  const entries = Object.entries(flags);
  const explained = entries.filter(([, { about }]) => about !== undefined);
  // The text of `--help` has these where they are needed.
  const others = entries.filter(([name, { about }]) => about === undefined && !namedBy(explained, name));
  return [
    ...explained.map(([name, flag]) => [
      code(labelOf(name, flag)),
      flag.about?.trim() || 'how the server to ask is reached',
    ]),
    ...(others.length === 0
      ? []
      : [[code(others.map(([name, flag]) => labelOf(name, flag)).join(', ')), 'see `--help`']]),
  ];
}

/** True if the line of another flag names this one too. */
function namedBy(flags: readonly (readonly [string, Flag])[], name: string): boolean {
  return flags.some(([, { label = '', about = '' }]) => `${label} ${about}`.includes(`--${name}`));
}

function faultTable(): string {
  return markdownTable(
    ['Fault', 'Then'],
    faultLines().map(({ words, about }) => [code(words), about]),
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
