import type { AnySchemaObject, ErrorObject } from 'ajv';

import { isRecord } from '../lib/check.ts';
import { reservedLabels } from './appliance-schema.ts';
import { closestWord } from './closest-word.ts';

/** Readers whose texts a message may quote: nobody writes a key in place of a duration. */
const quotableReaders = new Set<unknown>(['byteSize', 'duration', 'ratio']);

/**
 * Matches texts as short as a number, a duration or a size, shorter than keys, without control
 * characters.
 */
const quotable = /^[^\p{C}\p{Zl}\p{Zp}]{0,15}$/u;

/**
 * Returns what to do about a value that does not fit the schema; `written` is the value as in the
 * file.
 */
export function structureMessage(error: ErrorObject, written: string | undefined): string {
  const { keyword, params, schema, parentSchema = {}, message = 'does not fit' } = error;
  const got = written !== undefined && quotable.test(written) ? `, got ${JSON.stringify(written)}` : '';
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(params.additionalProperty, Object.keys(parentSchema.properties));
    case 'required':
      return `is missing; add it${suchAs(parentSchema.properties[params.missingProperty])}`;
    case 'type':
      return wrongType(parentSchema, got);
    case 'enum':
      return `must be one of ${parentSchema.enum.join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `must be ${range(parentSchema)}${got}`;
    case 'minItems':
      return `is an empty list; write one${suchAs(parentSchema)}${parentSchema.default ? `, or remove the key for ${JSON.stringify(parentSchema.default)}` : ''}`;
    case 'minLength':
      return `is empty; give it a value${suchAs(parentSchema)}`;
    case 'propertyNames':
      return `cannot be a label name; take letters, digits and _, no digit or __ first, and none of ${reservedLabels.join(', ')}`;
    case 'oneOf':
      return params.passingSchemas === null
        ? 'is missing; add it, or better api_key_file with the path of a file that holds the key'
        : 'contradicts api_key_file; remove one of the two';
    case 'not':
      return 'contradicts admin_api_key_file; remove one of the two';
    default:
      return `${message}${isRecord(schema) && quotableReaders.has(schema.reader) ? got : ''}`;
  }
}

function wrongType(schema: AnySchemaObject, got: string): string {
  switch (schema.type) {
    case 'boolean':
      return `must be true or false${got}`;
    case 'integer':
      return `must be a whole number ${range(schema)}${got}`;
    case 'array':
      return `must be a list${suchAs(schema)}`;
    case 'object':
      return `must be a mapping of keys and values${suchAs(schema)}`;
    default:
      return `must be a single value${suchAs(schema)}`;
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = closestWord(key, known);
  return `unknown key; ${meant === undefined ? `the keys here are ${known.join(', ')}` : `did you mean "${meant}"?`}`;
}

function suchAs({ examples = [] }: AnySchemaObject): string {
  const [example] = examples;
  if (example === undefined) return '';
  return `, such as ${typeof example === 'string' ? example : JSON.stringify(example)}`;
}

function range({ minimum, maximum }: AnySchemaObject): string {
  return maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
}
