import { type TSchema, Type } from 'typebox';

/** The Ajv keyword behind the types below; decode.ts gives it its meaning. */
export const wireKeyword = 'wire';

export type WireKind = 'number' | 'text' | 'name';

/**
 * A number as this family of appliances writes it: a number, a string of digits, or "" and null for
 * "not set" (docs/api.md §2.4). Inside, a number or null. Anything else is refused: a wrong number
 * is worse than none.
 */
export const WireNumber = Type.Optional(Type.Unsafe<number | null>({ [wireKeyword]: 'number' }));

/** A text that some releases write as a number (`-1`, a port) or leave null. */
export const WireText = Type.Optional(Type.Unsafe<string | null>({ [wireKeyword]: 'text' }));

/** A text that identifies something; without it the row means nothing. */
export const WireName = Type.Unsafe<string>({ [wireKeyword]: 'name' });

/**
 * Rows of one list that are read: farms, certificates, interfaces. Five times those of the largest
 * simulated fleet; checking and rendering them cannot be interrupted.
 */
const maxRows = 2_500;

/** Backends of one farm that are read. Each has more series than a row of another list. */
export const maxBackends = 1_000;

/** Creates a list whose rows are read. */
export function WireRows<Item extends TSchema>(item: Item, maxItems = maxRows) {
  return Type.Array(item, { maxItems });
}

/** Creates a required list that some releases print as null when it is empty. */
export function WireListOrNull<Item extends TSchema>(item: Item, maxItems = maxRows) {
  return Type.Union([WireRows(item, maxItems), Type.Null()]);
}

/** Creates a list that some releases leave out or print as null when it is empty. */
export function WireList<Item extends TSchema>(item: Item, maxItems = maxRows) {
  return Type.Optional(WireListOrNull(item, maxItems));
}

/**
 * Requires one of these fields of an object whose fields are all optional: without any, it answers
 * another question.
 */
export function about(...fields: readonly string[]) {
  return { anyOf: fields.map((field) => ({ required: [field] })) };
}
