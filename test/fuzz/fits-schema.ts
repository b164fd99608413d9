import type { TSchema } from 'typebox';
import { maxNameLength, maxTextLength } from '../../src/appliance/decode.ts';
import { isRecord } from '../../src/lib/check.ts';

/**
 * Returns the fault of a decoded value, found without the decoder: a type that its schema does not
 * permit, or a value that was invented in decoding `before`, such as a 0. Returns undefined if
 * there is none.
 */
export function misfit(schema: TSchema, before: unknown, after: unknown, at = ''): string | undefined {
  if ('anyOf' in schema && Array.isArray(schema.anyOf) && !('type' in schema)) {
    const wrong = (schema.anyOf as TSchema[]).map((each) => misfit(each, before, after, at));
    return wrong.includes(undefined) ? undefined : wrong.join(' and ');
  }
  if ('part' in schema) return after === null ? undefined : misfit(schema.part as TSchema, before, after, at);
  if ('wire' in schema) return misfitOfWire(String(schema.wire), before, after, at);
  if ('rows' in schema) return misfitOfRows(schema.rows as { item: TSchema }, before, after, at);
  const type = 'type' in schema ? schema.type : undefined;
  if (type === 'null') return after === null ? undefined : `${at} is not null`;
  if (type === 'string') return typeof after === 'string' ? undefined : `${at} is not a text`;
  if (type === 'array') return Array.isArray(after) ? undefined : `${at} is not a list`;
  if (type !== 'object') return undefined;
  if (!isRecord(after) || !isRecord(before)) return `${at} is not an object`;
  const { properties, required = [] } = schema as TSchema & {
    properties: Record<string, TSchema>;
    required?: string[];
  };
  return first(
    Object.entries(properties).map(([name, property]) => {
      const sent = 'lengthOf' in schema && schema.lengthOf === name ? lengthOf(before[name]) : before[name];
      if (Object.hasOwn(after, name)) return misfit(property, sent, after[name], `${at}/${name}`);
      if (Object.hasOwn(before, name)) return `${at}/${name} was taken away`;
      return required.includes(name) ? `${at}/${name} is missing` : undefined;
    }),
  );
}

/** Of a list of which nothing else is read, its length. */
function lengthOf(value: unknown): unknown {
  return Array.isArray(value) ? value.length : value;
}

/** A row that was left out, or united with one of its name, has no place of its own any more. */
function misfitOfRows({ item }: { item: TSchema }, before: unknown, after: unknown, at: string): string | undefined {
  if (after === null) return before === null ? undefined : `${at} was taken away`;
  if (!Array.isArray(after) || !Array.isArray(before)) return `${at} is not a list`;
  if (after.length > before.length) return `${at} has rows that were made up`;
  return first(
    after.map((each: unknown, index) => {
      const wrong = before.slice(index).map((row: unknown) => misfit(item, row, each, `${at}/${index}`));
      return wrong.includes(undefined) ? undefined : wrong[0];
    }),
  );
}

function misfitOfWire(kind: string, before: unknown, after: unknown, at: string): string | undefined {
  const isUnset =
    before === null || ((kind === 'number' || kind === 'signed') && typeof before === 'string' && before.trim() === '');
  if (after === null && kind !== 'name') return undefined;
  if (isUnset) return `${at} was made of nothing`;
  if (kind === 'number' || kind === 'signed') {
    if (typeof after !== 'number' || !Number.isFinite(after)) return `${at} is not a number`;
    if (typeof before === 'string') return Number(before) === after ? undefined : `${at} is another number`;
    return before === after ? undefined : `${at} is another number`;
  }
  if (typeof after !== 'string' || (kind === 'name' && after === '')) return `${at} is not a text`;
  if (typeof before === 'number')
    return Number(after) === before && after !== 'Infinity' ? undefined : `${at} is another`;
  if (typeof before === 'boolean') return kind !== 'name' && after === String(before) ? undefined : `${at} is another`;
  if (kind === 'state' && typeof before === 'string')
    return before.toLowerCase().includes(after.split(' ')[0] ?? '') ? undefined : `${at} is another word`;
  const text = kind === 'text' && typeof before === 'string' ? before.trim() : before;
  const most = kind === 'text' ? maxTextLength : maxNameLength;
  const isSame = typeof text === 'string' && text.length > most ? isBeginning(after, text, most) : text === after;
  return isSame ? undefined : `${at} is another text`;
}

/** Whether this is the beginning of a longer text, with a digest of it. */
function isBeginning(after: string, text: string, most: number): boolean {
  const beginning = /^([^]*)~[\da-f]{12}$/.exec(after)?.[1];
  if (beginning === undefined || after.length !== most) return false;
  // A pair of surrogates may be cut.
  return text.toWellFormed().startsWith(beginning.slice(0, -1));
}

function first(wrong: readonly (string | undefined)[]): string | undefined {
  return wrong.find((each) => each !== undefined);
}
