import type { Block } from './documents.ts';
import type { Shell, Typed } from './typing.ts';

/** A command as `console` shows it, and what it prints. */
export interface Exchange {
  /** The position of its first line within the block, from 0. */
  readonly at: number;
  readonly command: string;
  readonly expected: string;
}

/** Returns the commands after `$ `, with continued lines, and the output below each. */
function exchangesIn(text: string): readonly Exchange[] {
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

/**
 * Whether this came out; `…` alone on a line stands for lines, elsewhere for the rest of a word or
 * of several.
 */
function fits(expected: string, printed: string): boolean {
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

/**
 * Types a block. For `console` the output counts, not the exit code: the reader sees the output.
 */
export async function typeBlock(shell: Shell, block: Block): Promise<Typed> {
  if (block.language === 'sh') return await shell.type(block);
  const wrong: string[] = [];
  const outputs: string[] = [];
  for (const { at, command, expected } of exchangesIn(block.text)) {
    const { printed } = await shell.type({ ...block, text: command });
    if (fits(expected, printed)) continue;
    wrong.push(`${block.file}:${block.line + at + 1}: it prints something other than is shown: ${command}`);
    outputs.push(`shown:\n${expected}\nprinted:\n${printed}`);
  }
  return { failures: wrong, printed: outputs.join('\n') };
}
