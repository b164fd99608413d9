import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { CommandContext } from '../command.ts';
import { jsonText, pairLines, tableLines, valueText } from '../table.ts';

/** Members of a response that are not its subject (docs/api.md §1.5). */
const envelope: readonly string[] = ['description', 'message', 'warning', 'success', 'error', 'documentation'];

/** Far above the longest list of an appliance that a person reads. */
export const maxLines = 10_000;

/** One line more than is shown, so that the caller sees that something is left out. */
const maxRendered = maxLines + 1;
const maxColumns = 64;
/** Responses of the API are less deep; deeper values are shown as JSON. */
const maxSectionDepth = 8;

/**
 * Renders a JSON response for people: lists of objects as tables, objects as names and values, nested
 * objects as sections. Stops a little after {@link maxLines} lines.
 */
export function renderJson(value: unknown): readonly string[] {
  if (!isRecord(value)) return renderValue(value);
  const message = [value.warning === undefined ? '' : `Warning: ${valueText(value.warning)}`, value.message]
    .filter((text) => typeof text === 'string' && text !== '')
    .map(line);
  return [...message, ...renderValue(subjectOf(value))];
}

/**
 * Returns the subject of a response, without the envelope. A single member is the subject itself,
 * whatever its name.
 */
function subjectOf(response: unknown): unknown {
  if (!isRecord(response)) return response;
  const members = Object.entries(response).filter(([name]) => !envelope.includes(name));
  const [only, ...more] = members;
  return only && more.length === 0 ? only[1] : Object.fromEntries(members);
}

/** Columns that identify the rows of a list. They come first: the API sorts its members by name. */
const identities: readonly string[] = ['id', 'name', 'farmname', 'file'];

/** Returns the lines of a text without control characters; stops as {@link renderJson} does. */
export function renderText(text: string): readonly string[] {
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/, maxRendered)
    .map((line) => oneLine(line.replaceAll('\t', '    '), 10_000));
}

export function recordsOf(response: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isRecord(response) ? response[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function renderValue(value: unknown): readonly string[] {
  const shown: string[] = [];
  for (const { title, lines } of sectionsOf(value, '', 0)) {
    if (shown.length > 0) shown.push('');
    if (title !== '') shown.push(oneLine(title, 200));
    for (const text of lines) shown.push(text);
    if (shown.length >= maxRendered) break;
  }
  return shown;
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

function* sectionsOf(value: unknown, title: string, depth: number): Generator<Section> {
  if (depth > maxSectionDepth) yield { title, lines: [line(value)] };
  else if (isListOfRecords(value)) yield* sectionsOfList(value.slice(0, maxRendered), title, depth);
  else if (Array.isArray(value))
    yield { title, lines: value.length === 0 ? ['(none)'] : value.slice(0, maxRendered).map(line) };
  else if (value === null || value === undefined) yield { title, lines: ['(nothing)'] };
  else if (typeof value === 'string') yield { title, lines: renderText(value) };
  else if (isRecord(value)) yield* sectionsOfRecord(value, title, depth);
  else yield { title, lines: [line(value)] };
}

function* sectionsOfRecord(value: Readonly<Record<string, unknown>>, title: string, depth: number): Generator<Section> {
  const { plain, nested } = divide(value);
  if (plain.length > 0 || nested.length === 0) yield { title, lines: pairLines(plain.slice(0, maxRendered)) };
  for (const [name, inner] of nested) yield* sectionsOf(inner, nestedTitle(title, name), depth + 1);
}

function* sectionsOfList(
  rows: readonly Readonly<Record<string, unknown>>[],
  title: string,
  depth: number,
): Generator<Section> {
  const divided = rows.map(divide);
  const columns = columnsOf(divided);
  const shown = columns.slice(0, maxColumns);
  const table = tableLines(
    shown,
    rows.map((row) => shown.map((name) => row[name])),
  );
  const more = columns.length - shown.length;
  yield { title, lines: more === 0 ? table : [...table, `… and ${more} more columns`] };
  for (const [index, { nested }] of divided.entries()) {
    const label = identityOf(rows[index] ?? {});
    for (const [name, value] of nested)
      yield* sectionsOf(value, nestedTitle(nestedTitle(title, label), name), depth + 1);
  }
}

function identityOf(record: Readonly<Record<string, unknown>>): string {
  const { plain } = divide(record);
  const label = (plain.find(([name]) => identities.includes(name)) ?? plain[0])?.[1];
  return line(label ?? '');
}

function columnsOf(divided: readonly Divided[]): readonly string[] {
  const found = new Set(divided.flatMap(({ plain }) => plain.map(([name]) => name)));
  // A column that is empty in every row is left out, for the width of the screen.
  const filled = new Set(
    divided.flatMap(({ plain, nested }) =>
      [...plain, ...nested].filter(([, value]) => !isBlank(value)).map(([name]) => name),
    ),
  );
  const names = [...found].filter((name) => filled.has(name));
  return [...names.filter((name) => identities.includes(name)), ...names.filter((name) => !identities.includes(name))];
}

interface Divided {
  readonly plain: readonly (readonly [name: string, value: unknown])[];
  readonly nested: readonly (readonly [name: string, value: unknown])[];
}

/** Separates members that fit into a cell from members that need a section. */
function divide(record: Readonly<Record<string, unknown>>): Divided {
  const entries = Object.entries(record);
  const isNested = (value: unknown) => isListOfRecords(value) || (isRecord(value) && Object.keys(value).length > 0);
  return {
    plain: entries.filter(([, value]) => !isNested(value)),
    nested: entries.filter(([, value]) => isNested(value)),
  };
}

function isListOfRecords(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRecord);
}

function isBlank(value: unknown): boolean {
  if (isRecord(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function nestedTitle(title: string, name: string): string {
  const short = oneLine(name, 200);
  return title === '' ? short : `${title} › ${short}`;
}

function line(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : jsonText(value), 2_000);
}

/** Prints at most {@link maxLines} lines; the note about the rest goes to standard error. */
export function printLines(
  lines: readonly string[],
  { printOut, printErr }: Pick<CommandContext, 'printOut' | 'printErr'>,
): void {
  for (const line of lines.slice(0, maxLines)) printOut(line);
  if (lines.length > maxLines)
    printErr(
      `zlb-exporter: these are only the first ${maxLines} lines of a longer answer; --json into a pipe has all of it, and --output=FILE of an operation's`,
    );
}
