import { faultLines } from '../../simulator/fault-switch.ts';
import { commands, type Description, exporter } from '../../src/commands/commands.ts';
import { type Flag, labelOf } from '../../src/commands/flag.ts';
import { markdownTable } from './markdown.ts';

const all: readonly (readonly [command: string, Description])[] = [['', exporter], ...Object.entries(commands)];

/** Returns the tables of docs/command-line.md, from the flags and the texts of `--help`. */
export function commandTables(): Readonly<Record<string, string>> {
  return { flags: flagTable(), exit_codes: exitTable(), faults: faultTable() };
}

function flagTable(): string {
  const rows = all.flatMap(([command, { flags }]) => {
    const entries = Object.entries(flags);
    const explained = entries.filter(([, { about }]) => about !== undefined);
    // The text of `--help` has these where they are needed.
    const others = entries.filter(([name, { about }]) => about === undefined && !namedBy(explained, name));
    return [
      ...explained.map(([name, flag]) => [
        code(command),
        code(labelOf(name, flag)),
        flag.about?.trim() || 'how the server to ask is reached',
      ]),
      ...(others.length === 0
        ? []
        : [[code(command), code(others.map(([name, flag]) => labelOf(name, flag)).join(', ')), 'see `--help`']]),
    ];
  });
  return markdownTable(['Command', 'Flag', 'Meaning'], rows);
}

/** True if the line of another flag names this one too. */
function namedBy(flags: readonly (readonly [string, Flag])[], name: string): boolean {
  return flags.some(([, { label = '', about = '' }]) => `${label} ${about}`.includes(`--${name}`));
}

function exitTable(): string {
  const rows = all.flatMap(([command, { help }]) => {
    const codes = /Exit codes: ([^.]+)\./.exec(help)?.[1];
    return codes === undefined ? [] : [[code(command), codes.replaceAll('\n', ' ')]];
  });
  return markdownTable(['Command', 'Exit codes'], rows);
}

function faultTable(): string {
  return markdownTable(
    ['Fault', 'Then'],
    faultLines().map(({ words, about }) => [code(words), about]),
  );
}

function code(text: string): string {
  return text === '' ? 'the exporter' : `\`${text}\``;
}
