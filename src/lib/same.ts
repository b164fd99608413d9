import { isRecord } from './check.ts';
import { Secret } from './secret.ts';

/** Compares two values deeply, including the contents of secrets. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (one instanceof Secret) return other instanceof Secret && one.equals(other.reveal());
  if (one instanceof URL) return other instanceof URL && one.href === other.href;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((each, index) => isSame(each, other[index]))
    );
  }
  if (one instanceof Map) return other instanceof Map && isSame([...one], [...other]);
  if (!isRecord(one) || !isRecord(other)) return false;
  // No arrays of keys: hundreds of thousands of rows of readings are compared.
  let more = 0;
  for (const key in one) {
    if (!Object.hasOwn(other, key) || !isSame(one[key], other[key])) return false;
    more += 1;
  }
  for (const _key in other) more -= 1;
  return more === 0;
}

/** Returns the positions of repeated values, each with the position of the first one. */
export function findRepeats(
  values: readonly (string | undefined)[],
): readonly { readonly index: number; readonly first: number }[] {
  return values.flatMap((value, index) => {
    const first = values.indexOf(value);
    return value === undefined || first === index ? [] : [{ index, first }];
  });
}
