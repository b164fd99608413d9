import { type Static, type TSchema, Type } from 'typebox';

/** The Ajv keywords behind the types below; decode.ts gives them their meaning. */
export const wireKeyword = 'wire';
export const rowsKeyword = 'rows';
export const partKeyword = 'part';
/** Names a list at the top of a reply if only its length is read; response.ts writes it there. */
export const lengthKeyword = 'lengthOf';

export const wireKinds = ['number', 'signed', 'text', 'state', 'name'] as const;

export type WireKind = (typeof wireKinds)[number];

export interface WireRowsSchema {
  readonly item: TSchema;
  /** Fields that identify a row together; empty if rows are not compared. */
  readonly key: readonly string[];
  readonly maxRows: number;
}

/**
 * A number of things, as this family of appliances writes it: a number, a string of digits, or ""
 * and null for "not set" (docs/api.md §2.4). Inside, a number or null: anything else, and a number
 * below zero, cannot be read, and a wrong number is worse than none.
 */
export const WireNumber = Type.Optional(Type.Unsafe<number | null>({ [wireKeyword]: 'number' }));

/** A number that may be below zero. */
export const WireSigned = Type.Optional(Type.Unsafe<number | null>({ [wireKeyword]: 'signed' }));

/** A text that some releases write as a number (`-1`, a port) or leave null. Inside, trimmed. */
export const WireText = Type.Optional(Type.Unsafe<string | null>({ [wireKeyword]: 'text' }));

/** A status word. Inside, in small letters with single blanks. */
export const WireState = Type.Optional(Type.Unsafe<string | null>({ [wireKeyword]: 'state' }));

/** A text that identifies something; without it the row means nothing and is left out. */
export const WireName = Type.Unsafe<string>({ [wireKeyword]: 'name' });

/**
 * Rows of one list that are read: farms, certificates, interfaces. Five times those of the largest
 * simulated fleet; checking and rendering them cannot be interrupted.
 */
export const defaultMaxRows = 2_500;

/** Backends of one farm that are read. Each has more series than a row of another list. */
export const maxBackends = 1_000;

/**
 * Creates a list that is read row by row: a row that means nothing is left out, and so are those
 * beyond the bound. One of several rows with the same key remains, without the fields in which
 * they differ.
 */
export function WireRows<Item extends TSchema>(item: Item, key: readonly string[], maxRows = defaultMaxRows) {
  return Type.Unsafe<Static<Item>[]>({ type: 'array', [rowsKeyword]: { item, key, maxRows } satisfies WireRowsSchema });
}

/** Creates a required list that some releases print as null when it is empty. */
export function WireRowsOrNull<Item extends TSchema>(item: Item, key: readonly string[], maxRows = defaultMaxRows) {
  return Type.Unsafe<Static<Item>[] | null>({ ...WireRows(item, key, maxRows), type: ['array', 'null'] });
}

/** Creates a list that some releases leave out or print as null when it is empty. */
export function WireList<Item extends TSchema>(item: Item, key: readonly string[], maxRows = defaultMaxRows) {
  return WirePart(WireRowsOrNull(item, key, maxRows));
}

/** Creates a part of an object that may be missing, and is null where it cannot be read. */
export function WirePart<Part extends TSchema>(part: Part) {
  return Type.Optional(Type.Unsafe<Static<Part> | null>({ [partKeyword]: part }));
}

/**
 * Requires one of these fields of an object whose fields are all optional: without any, it answers
 * another question.
 */
export function about(...fields: readonly string[]) {
  return { anyOf: fields.map((field) => ({ required: [field] })) };
}
