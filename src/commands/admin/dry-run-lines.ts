import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { DryRun } from '../../admin/calls/dry-run.ts';
import { objectionLines } from '../../admin/changes/plan-lines.ts';
import { identityOf, isBlank, isListOfRecords, renderJson, renderText, subjectOf, within } from './render.ts';
import { jsonText, pairLines, valueText } from '../table.ts';

/**
 * Returns true if the gateway would refuse the call, or the appliance according to its own
 * description of the parameters.
 */
export function wouldFail({ would, validation }: Pick<DryRun, 'would' | 'validation'>): boolean {
  return would === 'be refused' || validation.problems.length > 0;
}

/**
 * Renders a dry run for people: the request, the objections, and the present state of the object.
 */
export function dryRunLines({ operation, risk, request, current, ...outcome }: DryRun): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): ${outcomeText(outcome)}.`, 300),
    ...objectionLines(outcome, outcome.validation),
    '',
    'Request',
    ...callLines(request),
    ...(current ? ['', ...presentLines(current, request.body)] : []),
  ];
}

const maxBodyLength = 4_000;

/** Returns a call as it would be sent; says how much of a long body it does not show. */
export function callLines({ method, url, body }: Omit<DryRun['request'], 'headers'>): readonly string[] {
  const shown = body ?? '';
  const text = typeof shown === 'string' ? shown : jsonText(shown);
  const more = text.length - maxBodyLength;
  return [
    oneLine(`${method} ${url}`, 2_000),
    ...(text === '' ? [] : [oneLine(text, maxBodyLength)]),
    ...(more > 0 ? [`… and ${more} more characters; --json shows all`] : []),
  ].map((line) => `  ${line}`);
}

/**
 * Returns the warnings of guards that do not block this call, also of guards that block calls with
 * other tokens.
 */
export function warningLines({ findings, warned = [] }: Pick<DryRun, 'findings' | 'warned'>): readonly string[] {
  return objectionLines({
    because: [],
    findings: findings.filter(({ severity, guard }) => severity !== 'blocking' || warned.includes(guard)),
  });
}

function outcomeText({ would, validation }: Pick<DryRun, 'would' | 'validation'>): string {
  if (would !== 'be refused' && validation.problems.length > 0)
    return 'the gateway would send it, and the appliance would refuse it';
  return `it would ${would}`;
}

/** Renders the present state of an object, first what a change (its body) sets. */
export function presentLines({ operation, body }: NonNullable<DryRun['current']>, change: unknown): readonly string[] {
  const source = oneLine(operation, 64);
  const changed = isRecord(change) ? Object.keys(change) : [];
  return [`Now (${source})`, ...presentStateLines(body, changed, source).map((line) => `  ${line}`.trimEnd())];
}

const maxLines = 12;
const maxDepth = 8;
const maxListed = 20;

/**
 * The members of an object that matter for most changes. The API sorts its members by name, which
 * puts these anywhere.
 */
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
 * Returns a screenful about the present state of an object: first the members that a change sets
 * (`changed`), then its state and its parts, then the others. Empty members count only when the
 * change sets them. `source` is the operation that shows all.
 */
export function presentStateLines(body: unknown, changed: readonly string[], source: string): readonly string[] {
  const subject = subjectOf(body);
  if (isBlank(subject)) return ['(nothing)'];
  if (!isRecord(subject)) {
    const lines = typeof subject === 'string' ? renderText(subject) : renderJson(subject);
    return [...lines.slice(0, maxLines), ...moreLines(lines.length, 'lines', source)];
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

function moreLines(count: number, unit: string, source: string): readonly string[] {
  return count > maxLines ? [`… and ${count - maxLines} more ${unit}; ${source} shows all`] : [];
}

/**
 * Yields the members of an object and of the objects in it; a list of objects becomes their names
 * and states.
 */
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

/** Yields the lists of objects in an object of a list, such as the backends of a service. */
function* listsOf(item: Readonly<Record<string, unknown>>, path: string, depth: number): Generator<NamedValue> {
  yield* valuesOf(Object.fromEntries(Object.entries(item).filter(([, value]) => isListOfRecords(value))), path, depth);
}

function listText(items: readonly Readonly<Record<string, unknown>>[]): string {
  const texts = items
    .slice(0, maxListed)
    .map((item) => [identityOf(item), ...(isBlank(item.status) ? [] : [valueText(item.status)])].join(': '));
  return [...texts, ...(items.length > maxListed ? [`… ${items.length - maxListed} more`] : [])].join(', ');
}
