import { commands, exporter } from '../../src/commands/commands.ts';
import { labelOf } from '../../src/commands/flag.ts';
import { markdownTable } from './markdown.ts';

/** Returns the tables of docs/command-line.md, from the flags and the texts of `--help`. */
export function commandTables(): Readonly<Record<string, string>> {
  return { flags: exporterTable(), commands: commandTable() };
}

/** The flags of the exporter, which unit files and manifests have; `--help` explains all others. */
function exporterTable(): string {
  const rows = Object.entries(exporter.flags).flatMap(([name, flag]) =>
    flag.about === undefined ? [] : [[code(labelOf(name, flag)), flag.about]],
  );
  return markdownTable(['Flag', 'Meaning'], rows);
}

/** The flags of each command, and its exit codes. */
function commandTable(): string {
  const rows = [['', exporter] as const, ...Object.entries(commands)].flatMap(([command, { flags, help }]) => {
    const codes = /Exit codes: ([^.]+)\./.exec(help)?.[1]?.replaceAll('\n', ' ') ?? '';
    if (command === '') return [['none', 'above', codes]];
    const names = Object.keys(flags).map((name) => `--${name}`);
    return names.length === 0 && codes === '' ? [] : [[code(command), names.map(code).join(' '), codes]];
  });
  return markdownTable(['Command', 'Flags', 'Exit codes'], rows);
}

function code(text: string): string {
  return `\`${text}\``;
}
