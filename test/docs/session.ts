/** A command as `console` shows it, and what it prints. */
export interface Exchange {
  /** Of its first line within the block, from 0. */
  readonly at: number;
  readonly command: string;
  readonly expected: string;
}

/** What is typed behind `$ `, on further lines after a backslash, and below it what comes out. */
export function exchangesIn(text: string): readonly Exchange[] {
  const exchanges: { at: number; command: string[]; expected: string[] }[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const last = exchanges.at(-1);
    if (line.startsWith('$ ')) exchanges.push({ at, command: [line.slice(2)], expected: [] });
    else if (last?.expected.length === 0 && last.command.at(-1)?.endsWith('\\')) last.command.push(line);
    else last?.expected.push(line);
  }
  return exchanges.map(({ at, command, expected }) => ({
    at,
    command: command.join('\n'),
    expected: expected.join('\n'),
  }));
}

/** Whether this came out; `…` alone on a line stands for lines, elsewhere for the rest of a word or of several. */
export function fits(expected: string, printed: string): boolean {
  const pattern = expected
    .trimEnd()
    .split('\n')
    .map((line) =>
      line.trim() === '…'
        ? '(?:[^\\n]*\\n)*?'
        : `${line.trimEnd().split('…').map(literally).join('[^\\n]*')}[ \\t]*\\n`,
    )
    .join('');
  return new RegExp(`^${pattern}$`).test(`${printed.trimEnd()}\n`);
}

function literally(words: string): string {
  return words.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
