import { type TObjectOptions, type TProperties, type TSchemaOptions, type TUnsafe, Type } from 'typebox';

import type { Limits } from './quantity.ts';
import type { ReadBy, ReaderName } from './readers.ts';

/** The schema keyword of a text that is not used as it stands. */
export interface Reads extends Limits {
  readonly reader: ReaderName;
}

/** A mapping that knows its keys. */
export function section<Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** A text that its reader turns into what the program uses. */
export function value<Name extends ReaderName>(
  reader: Name,
  { above, from, to, ...options }: Limits & TSchemaOptions,
): TUnsafe<ReadBy<Name>> {
  // A share without a percent sign is a number to an editor.
  const type = reader === 'ratio' ? ['string', 'number'] : 'string';
  const reads = { reader, ...(above && { above }), ...(from && { from }), ...(to && { to }) } satisfies Reads;
  return Type.Unsafe({ type, reads, ...options });
}
