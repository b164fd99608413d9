import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/one-line.ts';
import { pairLines, tableLines, valueText } from './table.ts';

/** What an answer's envelope says beside its subject (WIRE.md §1.5). */
const envelope: readonly string[] = ['description', 'message', 'warning', 'success', 'error', 'documentation'];

/**
 * The lines of a JSON answer for people: lists of objects as tables, objects as names and values, what stands inside
 * another as a section of its own.
 */
export function renderJson(value: unknown): readonly string[] {
  if (!isRecord(value)) return renderValue(value);
  const subject = Object.entries(value).filter(([name]) => !envelope.includes(name));
  const [only, ...more] = subject;
  const message = [value.warning === undefined ? '' : `Warning: ${valueText(value.warning)}`, value.message]
    .filter((text) => typeof text === 'string' && text !== '')
    .map(line);
  // One member is what the answer is about, whatever it is called.
  const shown = only && more.length === 0 ? renderValue(only[1]) : renderValue(Object.fromEntries(subject));
  return [...message, ...shown];
}

/** What tells the rows of a list apart; the API sorts the names of its members, which puts these anywhere. */
const identities: readonly string[] = ['id', 'name', 'farmname', 'file'];

/** The lines of a text, each freed of what commands a terminal. */
export function renderText(text: string): readonly string[] {
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => oneLine(line.replaceAll('\t', '    '), 10_000));
}

/** The objects in a list of an answer. */
export function recordsOf(answer: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isRecord(answer) ? answer[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function renderValue(value: unknown): readonly string[] {
  return flatten(value, '').flatMap(({ title, lines }, index) => [
    ...(index > 0 ? [''] : []),
    ...(title === '' ? [] : [oneLine(title, 200)]),
    ...lines,
  ]);
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

function flatten(value: unknown, title: string): readonly Section[] {
  if (isListOfRecords(value)) return flattenList(value, title);
  if (Array.isArray(value)) return [{ title, lines: value.length === 0 ? ['(none)'] : value.map(line) }];
  if (value === null || value === undefined) return [{ title, lines: ['(nothing)'] }];
  if (!isRecord(value)) return [{ title, lines: typeof value === 'string' ? renderText(value) : [line(value)] }];
  const { plain, nested } = divide(value);
  const own = plain.length > 0 || nested.length === 0 ? [{ title, lines: pairLines(plain) }] : [];
  return [...own, ...nested.flatMap(([name, inner]) => flatten(inner, within(title, name)))];
}

function flattenList(rows: readonly Readonly<Record<string, unknown>>[], title: string): readonly Section[] {
  const divided = rows.map(divide);
  const found = [...new Set(divided.flatMap(({ plain }) => plain.map(([name]) => name)))];
  // What is empty in every row would only push the rest off the screen.
  const told = found.filter((name) => rows.some((row) => !isBlank(row[name])));
  const columns = [
    ...told.filter((name) => identities.includes(name)),
    ...told.filter((name) => !identities.includes(name)),
  ];
  const table = tableLines(
    columns,
    rows.map((row) => columns.map((name) => row[name])),
  );
  const inner = divided.flatMap(({ plain, nested }) => {
    const label = (plain.find(([name]) => identities.includes(name)) ?? plain[0])?.[1];
    return nested.flatMap(([name, value]) => flatten(value, within(within(title, line(label ?? '')), name)));
  });
  return [{ title, lines: table }, ...inner];
}

/** Separates what fits into a cell from what needs a section. */
function divide(record: Readonly<Record<string, unknown>>) {
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
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function within(title: string, name: string): string {
  return title === '' ? name : `${title} › ${name}`;
}

function line(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), 2_000);
}
