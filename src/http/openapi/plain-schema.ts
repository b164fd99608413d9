import type { TSchema } from 'typebox';
import { type WireKind, wireKeyword } from '../../appliance/wire-types.ts';
import { isOneOf, isRecord } from '../../lib/check.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const wireNames: Readonly<Record<WireKind, string>> = { number: 'WireNumber', text: 'WireText', name: 'WireName' };

/**
 * The components that {@link plainSchema} refers to: how this family of appliances writes numbers
 * and texts.
 */
export const wireSchemas: JsonObject = {
  [wireNames.number]: {
    type: ['number', 'string', 'null'],
    description: 'A number, or its digits as a text. An empty text and null say that it is not set.',
  },
  [wireNames.text]: {
    type: ['string', 'number', 'null'],
    description: 'A text that some releases write as a number or leave null.',
  },
  [wireNames.name]: { type: ['string', 'number'], description: 'A text that identifies something; never empty.' },
};

/** A schema of ours in the words of JSON Schema 2020-12 alone. */
export function plainSchema(schema: TSchema): unknown {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    const kind = isRecord(value) ? value[wireKeyword] : undefined;
    return isOneOf(['number', 'text', 'name'], kind) ? schemaRef(wireNames[kind]) : value;
  });
}

export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
