import type { TSchema, Type as TypeBox } from 'typebox';

/** The members of an object that may be missing. */
const optional = new WeakSet<object>();

function marked<Schema extends TSchema>(schema: Schema): Schema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

function requiredOf(properties: Readonly<Record<string, TSchema>>): { readonly required?: readonly string[] } {
  const required = Object.keys(properties).filter((key) => !optional.has(properties[key] ?? {}));
  return required.length > 0 ? { required } : {};
}

/**
 * Makes JSON schemas with the types of TypeBox, and without its code: that has 373 modules, which
 * took 20 MB of each process, for these functions.
 */
export const Type = {
  Array: (items: TSchema, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: object) => ({ enum: values, ...options }),
  Immutable: (schema: TSchema) => schema,
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: object) => ({ type: 'null', ...options }),
  Number: (options?: object) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, TSchema>>, options?: object) => ({
    type: 'object',
    ...requiredOf(properties),
    properties,
    ...options,
  }),
  Optional: marked,
  Record: (_key: TSchema, value: TSchema, options?: object) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Ref: (ref: string, options?: object) => ({ $ref: ref, ...options }),
  String: (options?: object) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: object) => ({ anyOf, ...options }),
  Unknown: (options?: object) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Immutable'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'Ref'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;
