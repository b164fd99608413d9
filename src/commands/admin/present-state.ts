import { isRecord } from '../../lib/check.ts';
import { identityOf, isBlank, isListOfRecords, renderJson, renderText, subjectOf, within } from './render.ts';
import { pairLines, valueText } from './table.ts';

const maxLines = 12;
const maxDepth = 8;
const maxListed = 20;

/** The members of an object that matter for most changes. The API sorts its members by name, which puts these anywhere. */
const importantNames: readonly string[] = [
  'status',
  'farmname',
  'name',
  'id',
  'file',
  'vip',
  'vport',
  'ip',
  'port',
  'services',
  'backends',
  'certlist',
];

interface NamedValue {
  readonly name: string;
  /** The name with its path: `services › front › backends`. */
  readonly title: string;
  readonly value: unknown;
}

/**
 * A screenful about the present state of an object: first the members that a change sets (`changed`), then its state and its
 * parts, then the others. Empty members count only when the change sets them. `source` is the operation that shows all.
 */
export function presentStateLines(body: unknown, changed: readonly string[], source: string): readonly string[] {
  const subject = subjectOf(body);
  if (isBlank(subject)) return ['(nothing)'];
  if (!isRecord(subject)) {
    const lines = typeof subject === 'string' ? renderText(subject) : renderJson(subject);
    return shortened(lines, 'lines', source);
  }
  const rank = ({ name }: NamedValue): number =>
    changed.includes(name) ? -1 : importantNames.indexOf(name) + 1 || importantNames.length + 1;
  const values = [...valuesOf(subject, '', 0)]
    .filter(({ name, value }) => changed.includes(name) || !isBlank(value))
    .sort((one, other) => rank(one) - rank(other));
  if (values.length === 0) return ['(nothing)'];
  const shown = values.slice(0, maxLines).map(({ title, value }) => [title, value] as const);
  return [...pairLines(shown), ...moreLines(values.length, 'values', source)];
}

function shortened(lines: readonly string[], unit: string, source: string): readonly string[] {
  return [...lines.slice(0, maxLines), ...moreLines(lines.length, unit, source)];
}

function moreLines(count: number, unit: string, source: string): readonly string[] {
  return count > maxLines ? [`… and ${count - maxLines} more ${unit}; ${source} shows all`] : [];
}

/** The members of an object and of the objects in it; a list of objects becomes their names and states. */
function* valuesOf(record: Readonly<Record<string, unknown>>, path: string, depth: number): Generator<NamedValue> {
  for (const [name, value] of Object.entries(record)) {
    // `params` is the API's envelope of the object itself.
    const title = path === '' && name === 'params' ? '' : within(path, name);
    if (isListOfRecords(value)) {
      yield { name, title, value: listText(value) };
      if (depth < maxDepth) for (const item of value) yield* listsOf(item, within(title, identityOf(item)), depth + 1);
    } else if (isRecord(value) && depth < maxDepth) yield* valuesOf(value, title, depth + 1);
    else yield { name, title, value };
  }
}

/** The lists of objects in an object of a list, such as the backends of a service. */
function* listsOf(item: Readonly<Record<string, unknown>>, path: string, depth: number): Generator<NamedValue> {
  yield* valuesOf(Object.fromEntries(Object.entries(item).filter(([, value]) => isListOfRecords(value))), path, depth);
}

function listText(items: readonly Readonly<Record<string, unknown>>[]): string {
  const texts = items
    .slice(0, maxListed)
    .map((item) => [identityOf(item), ...(isBlank(item.status) ? [] : [valueText(item.status)])].join(' '));
  return [...texts, ...(items.length > maxListed ? [`… ${items.length - maxListed} more`] : [])].join(', ');
}
