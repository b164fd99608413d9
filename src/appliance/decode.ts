import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import type { Excess } from './reply-bounds.ts';
import { type WireKind, wireKeyword } from './wire-types.ts';

/**
 * Checks a parsed reply against its schema and coerces the appliance's types in place; the error
 * names the first wrong field, or the list that has too many rows.
 */
export type Decode = (schema: TSchema, body: unknown) => { readonly ok: true } | ({ readonly ok: false } & Excess);

/** Creates a decoder that compiles each schema once, at its first use. */
export function createDecoder(): Decode {
  // The schemas are typed: to check them at run time takes longer than to compile them.
  const ajv = new Ajv({ strictSchema: false, validateFormats: false, validateSchema: false });
  ajv.addKeyword({ keyword: wireKeyword, schemaType: 'string', modifying: true, errors: 'full', validate: coerce });
  const compiled = new WeakMap<TSchema, ValidateFunction>();

  return (schema, body) => {
    let validate = compiled.get(schema);
    if (!validate) {
      validate = ajv.compile(schema);
      compiled.set(schema, validate);
    }
    if (validate(body)) return { ok: true };
    return { ok: false, ...excessIn(validate.errors?.[0]) };
  };
}

function excessIn(error: ErrorObject | undefined): Excess {
  const place = error?.instancePath || 'the body';
  if (error?.keyword !== 'maxItems')
    return { reason: 'malformed', because: `${place} ${error?.message ?? 'does not fit'}` };
  const remedy = 'check what answers under the url of the appliance';
  return { reason: 'oversize', because: `${place} has more than ${error.params.limit} rows; ${remedy}` };
}

const coerce: SchemaValidateFunction = (kind: WireKind, value: unknown, _schema, context) => {
  const result = coerceWire(kind, value);
  if (result === undefined) {
    coerce.errors = [{ keyword: wireKeyword, message: expectation[kind], params: {} }];
    return false;
  }
  if (result !== value && context) {
    const parent: Record<string | number, unknown> = context.parentData;
    parent[context.parentDataProperty] = result;
  }
  return true;
};

const expectation: Record<WireKind, string> = {
  number: 'must be a number, a string of digits, empty or null',
  text: 'must be a text, a number or null',
  name: 'must be a text that is not empty',
};

const decimal = /^\s*[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/;

function coerceWire(kind: WireKind, value: unknown): string | number | null | undefined {
  // `JSON.parse` turns 1e999 into Infinity.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return undefined;
  if (kind === 'name') {
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }
  if (value === null) return null;
  if (kind === 'text') {
    if (typeof value === 'string') return value;
    return typeof value === 'number' ? String(value) : undefined;
  }
  if (typeof value === 'string' && value.trim() === '') return null;
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
