import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/one-line.ts';

/** What a cell shows at most; `--json` shows all. */
const widestCell = 80;
/** What a value as a text shows of its inside; to go all the way down would exhaust the stack. */
const deepestText = 16;

/** Lines with their cells under one another; the last column may be as long as it is. Nothing in a cell commands the terminal. */
export function tableLines(header: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  const cells = [header, ...rows].map((row) => row.map((value, column) => cell(value, column === header.length - 1)));
  const widths = header.map((_, column) => widest(cells.map((row) => row[column] ?? '')));
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
  const width = widest(names);
  return pairs.map(([, value], index) => `${(names[index] ?? '').padEnd(width)}  ${cell(value, true)}`.trimEnd());
}

/** Not with the arguments of Math.max, of which there cannot be as many as an answer can have rows. */
function widest(texts: readonly string[]): number {
  return texts.reduce((width, { length }) => Math.max(width, length), 0);
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
  return jsonText(value);
}

/** A value of an answer as JSON, with a … in place of what is nested very deep. */
export function jsonText(value: unknown): string {
  return JSON.stringify(pruned(value, 0));
}

function pruned(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepestText) return '…';
  if (Array.isArray(value)) return value.map((item: unknown) => pruned(item, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, pruned(item, depth + 1)]));
}
