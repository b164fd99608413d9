// Reads values of JSON by their shape, for commands that must start fast: a schema of typebox costs
// half a second of processor before the first response. Replies of appliances are read by schemas.

import { isOneOf, isRecord } from './check.ts';

/** Returns a value of a shape; throws a {@link ShapeError} for another one. `at` is its place. */
export type Shape<T> = (value: unknown, at: string) => T;

export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** Says which value is not of its shape: `/appliances/0/name is not a text`. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

const primitive =
  <T>(isOne: (value: unknown) => value is T, what: string): Shape<T> =>
  (value, at) => {
    if (!isOne(value)) throw new ShapeError(`${at || '/'} is not ${what}`);
    return value;
  };

export const text = primitive((value) => typeof value === 'string', 'a text');
export const number = primitive((value) => typeof value === 'number', 'a number');
export const flag = primitive((value) => typeof value === 'boolean', 'true or false');
const record = primitive(isRecord, 'an object');
const array = primitive((value): value is unknown[] => Array.isArray(value), 'a list');

export function word<const Word extends string>(...words: readonly Word[]): Shape<Word> {
  return primitive((value) => isOneOf(words, value), `one of ${words.join(', ')}`);
}

/** A value that may be left out, or null. */
export function maybe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at) => (value == null ? undefined : shape(value, at));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, at) => array(value, at).map((each, index) => shape(each, `${at}/${index}`));
}

/** An object with any keys. */
export function table<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, at) =>
    Object.fromEntries(Object.entries(record(value, at)).map(([key, each]) => [key, shape(each, `${at}/${key}`)]));
}

/** An object with these keys; others stay as they are. */
export function object<const Shapes extends Readonly<Record<string, Shape<unknown>>>>(
  shapes: Shapes,
): Shape<{ readonly [Key in keyof Shapes]: Shaped<Shapes[Key]> }> {
  return (value, at) => {
    const given = record(value, at);
    const read = Object.entries(shapes).map(([key, shape]) => [key, shape(given[key], `${at}/${key}`)]);
    return { ...given, ...Object.fromEntries(read) } as { readonly [Key in keyof Shapes]: Shaped<Shapes[Key]> };
  };
}
