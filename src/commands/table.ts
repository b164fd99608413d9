import { isRecord } from '../lib/check.ts';
import { oneLine } from '../lib/text.ts';

/** Maximal depth of a value as JSON text; deeper values could exhaust the stack. */
const maxTextDepth = 16;
/** Maximal characters of a cell; `--json` shows all. */
const maxCellWidth = 80;

/**
 * Renders rows with aligned columns, without control characters. The last column has no maximal
 * width.
 */
export function tableLines(header: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  const cells = [header, ...rows].map((row) =>
    row.map((value, column) => cellText(value, column === header.length - 1)),
  );
  const widths = header.map((_, column) => widest(cells.map((row) => row[column] ?? '')));
  return cells.map((row) =>
    row
      .map((text, column) => (column === header.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

export function pairLines(pairs: readonly (readonly [name: string, value: unknown])[]): readonly string[] {
  const names = pairs.map(([name]) => cellText(name, false));
  const width = widest(names);
  return pairs.map(([, value], index) => `${(names[index] ?? '').padEnd(width)}  ${cellText(value, true)}`.trimEnd());
}

/** Returns the greatest length. A response can have more rows than Math.max takes arguments. */
function widest(texts: readonly string[]): number {
  return texts.reduce((width, { length }) => Math.max(width, length), 0);
}

function cellText(value: unknown, last: boolean): string {
  const text = oneLine(valueText(value), last ? 2_000 : maxCellWidth + 1);
  return !last && text.length > maxCellWidth ? `${text.slice(0, maxCellWidth - 1)}…` : text;
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(valueText).join(', ');
  return jsonText(value);
}

/** Returns a value of a response as JSON, with a … for deeply nested parts. */
export function jsonText(value: unknown): string {
  return JSON.stringify(withoutDeepParts(value, 0));
}

function withoutDeepParts(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxTextDepth) return '…';
  if (Array.isArray(value)) return value.map((item: unknown) => withoutDeepParts(item, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutDeepParts(item, depth + 1)]));
}
