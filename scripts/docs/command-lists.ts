import { commands, exporter } from '../../src/commands/commands.ts';
import { type FlagTable, labelOf } from '../../src/commands/flags.ts';
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
      const codes = exitCodesOf(help);
      const names = command === '' ? [] : ownFlags(flags).map((name) => `--${name}`);
      if (names.length === 0 && codes === undefined) return [];
      const called = command === '' ? 'without a command' : code(command);
      const flagWords = names.length === 0 ? '' : `, with ${names.map(code).join(' ')}`;
      return [`${called}${flagWords}.${codes === undefined ? '' : ` Exit codes: ${codes}.`}`];
    }),
  );
}

/** Returns the sentence of a help about exit codes: `0 done, 1 refused or failed`. */
export function exitCodesOf(help: string): string | undefined {
  return /Exit codes: ([^.]+)\./.exec(help)?.[1]?.replaceAll('\n', ' ');
}

/** Returns the flags of a command that are not those of the exporter. */
function ownFlags(flags: FlagTable): readonly string[] {
  return Object.keys(flags).filter((name) => flags[name] !== exporter.flags[name]);
}

function code(text: string): string {
  return `\`${text}\``;
}
