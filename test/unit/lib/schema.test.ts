import { Type as TypeBox } from 'typebox';
import { expect, it } from 'vitest';
import { Type } from '../../../src/lib/schema.ts';

const about = { description: 'What it is.' };

/** Schemas of each kind, made with the functions of one or the other. */
function examplesOf(type: typeof Type) {
  const text = type.String();
  return {
    Array: [type.Array(text), type.Array(text, { default: [], ...about })],
    Boolean: [type.Boolean(), type.Boolean(about)],
    Enum: type.Enum(['a', 'b'], about),
    Immutable: type.Object({ list: type.Immutable(type.Array(text)) }),
    Integer: type.Integer({ minimum: 1 }),
    Literal: [type.Literal('a'), type.Literal(1), type.Literal(true)],
    Null: type.Null(),
    Number: type.Number(about),
    Object: [
      type.Object({}),
      type.Object({ needed: text, other: type.Optional(text) }, { additionalProperties: false }),
    ],
    Optional: type.Object({ only: type.Optional(type.Union([text, type.Null()], about)) }),
    Record: type.Record(text, type.Integer(), about),
    Ref: type.Ref('#/components/schemas/Change'),
    String: type.String({ pattern: '^a$', ...about }),
    Union: type.Union([text, type.Null()], about),
    Unknown: [type.Unknown(), type.Unknown(about)],
    Unsafe: type.Object({ own: type.Unsafe<string>({ wire: 'name' }), other: type.Optional(type.Unsafe({})) }),
  };
}

it('makes the schemas that TypeBox makes', () => {
  const made = examplesOf(Type);

  expect(Object.keys(made)).toEqual(Object.keys(Type));
  expect(JSON.stringify(made)).toBe(JSON.stringify(examplesOf(TypeBox)));
});
