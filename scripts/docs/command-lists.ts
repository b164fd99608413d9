import { commands, exporter } from '../../src/commands/commands.ts';
import { labelOf } from '../../src/commands/flag.ts';
import { markdownList } from './markdown.ts';

/** Returns the lists of docs/command-line.md, from the flags and the texts of `--help`. */
export function commandLists(): Readonly<Record<string, string>> {
  return { flags: exporterList(), commands: commandList() };
}

/** The flags of the exporter, which unit files and manifests have; `--help` explains all others. */
function exporterList(): string {
  const flags = Object.entries(exporter.flags).flatMap(([name, flag]) =>
    flag.about === undefined ? [] : [`${code(labelOf(name, flag))}: ${flag.about}`],
  );
  return markdownList(flags);
}

/** The flags of each command, and its exit codes. */
function commandList(): string {
  const all = [['', exporter] as const, ...Object.entries(commands)];
  return markdownList(
    all.flatMap(([command, { flags, help }]) => {
      const codes = /Exit codes: ([^.]+)\./.exec(help)?.[1]?.replaceAll('\n', ' ');
      const names = command === '' ? [] : Object.keys(flags).map((name) => `--${name}`);
      if (names.length === 0 && codes === undefined) return [];
      const called = command === '' ? 'without a command' : code(command);
      const flagWords = names.length === 0 ? '' : `, with ${names.map(code).join(' ')}`;
      return [`${called}${flagWords}.${codes === undefined ? '' : ` Exit codes: ${codes}.`}`];
    }),
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
