import { type TObjectOptions, type TProperties, type TSchemaOptions, type TUnsafe, Type } from 'typebox';

import type { QuantityLimits, ReadBy, ReaderName } from './readers.ts';

/** The schema keyword of a text that a reader parses. */
export interface Reads extends QuantityLimits {
  readonly reader: ReaderName;
}

/** Returns the schema of a mapping with a fixed set of keys. */
export function mapping<Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Returns the schema of a text that a reader parses. */
export function value<Name extends ReaderName>(
  reader: Name,
  { above, from, to, ...options }: QuantityLimits & TSchemaOptions,
): TUnsafe<ReadBy<Name>> {
  // An editor takes a ratio without a percent sign for a number.
  const type = reader === 'ratio' ? ['string', 'number'] : 'string';
  const reads = { reader, ...(above && { above }), ...(from && { from }), ...(to && { to }) } satisfies Reads;
  return Type.Unsafe({ type, reads, ...options });
}

/** Returns the schema of the path of a file or folder. */
export function path(description: string, example: string) {
  return Type.String({ description, minLength: 1, examples: [example] });
}

/** Returns the schema of a switch that is off by default. */
export function flag(description: string) {
  return Type.Boolean({ description, default: false, examples: [true] });
}
