/** A table of a Markdown document. */
export interface DocumentTable {
  /** The heading above it. */
  readonly section: string;
  /** Cells as they are written, with bars unescaped. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** All tables of a Markdown document, in their order. */
export function tablesIn(markdown: string): readonly DocumentTable[] {
  let section = '';
  return markdown.split('\n\n').flatMap((block) => {
    section = /^#+ (.*)$/m.exec(block)?.[1] ?? section;
    const [head, rule, ...rows] = block.split('\n').filter((line) => line.startsWith('|'));
    if (head === undefined || rule === undefined || !/^\|[-:| ]+\|$/.test(rule)) return [];
    return [{ section, head: cellsOf(head), rows: rows.map(cellsOf) }];
  });
}

/** Returns the texts between backticks. */
export function codeSpansIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}
