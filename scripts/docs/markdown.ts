/** Puts each text between the markers `<!-- NAME -->` and `<!-- /NAME -->` of a document. */
export function withTables(document: string, texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts).reduce((filled, [name, text]) => betweenMarkers(filled, name, text), document);
}

function betweenMarkers(document: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from === -1 || to < from) throw new Error(`the document has no ${start} with a ${end} after it`);
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/** Returns a table. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [markdownRow(titles), `|${titles.map(() => '---').join('|')}|`, ...rows.map(markdownRow)].join('\n');
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const maxColumns = 100;

/** Returns a list with lines of at most 100 columns, where words allow. */
export function markdownList(items: readonly string[]): string {
  return items
    .map((item) => {
      const [first = '', ...more] = wrapped(item, maxColumns - 2);
      return [`- ${first}`, ...more.map((line) => `  ${line}`)].join('\n');
    })
    .join('\n');
}

/** Returns the lines of a text that are at most so many columns wide, where words allow. */
export function wrapped(text: string, columns: number): readonly string[] {
  const [first = '', ...words] = text.split(' ');
  if (text === '') return [];
  return words.reduce<readonly string[]>(
    (before, word) => {
      const line = `${before.at(-1)} ${word}`;
      return line.length <= columns ? [...before.slice(0, -1), line] : [...before, word];
    },
    [first],
  );
}
