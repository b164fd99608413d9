import { oneLine } from '../../lib/one-line.ts';

/** What a cell shows at most; `--json` shows all. */
const widestCell = 80;

/** Lines with their cells under one another; the last column may be as long as it is. Nothing in a cell commands the terminal. */
export function tableLines(header: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  const cells = [header, ...rows].map((row) => row.map((value, column) => cell(value, column === header.length - 1)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((text, column) => (column === header.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** A name and its value on each line. */
export function pairLines(pairs: readonly (readonly [name: string, value: unknown])[]): readonly string[] {
  const names = pairs.map(([name]) => cell(name, false));
  const width = Math.max(0, ...names.map(({ length }) => length));
  return pairs.map(([, value], index) => `${(names[index] ?? '').padEnd(width)}  ${cell(value, true)}`.trimEnd());
}

function cell(value: unknown, last: boolean): string {
  const text = oneLine(valueText(value), last ? 2_000 : widestCell + 1);
  return !last && text.length > widestCell ? `${text.slice(0, widestCell - 1)}…` : text;
}

/** Any value of an answer as a text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(valueText).join(', ');
  return JSON.stringify(value);
}
