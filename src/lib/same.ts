import { isRecord } from './check.ts';
import { Secret } from './secret.ts';

/** Whether two values say the same, all the way down, the contents of secrets included. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Secret) return other instanceof Secret && one.equals(other.reveal());
  if (one instanceof RegExp || one instanceof URL) return isSameText(one, other);
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((each, index) => isSame(each, other[index]))
    );
  }
  if (one instanceof Map) return other instanceof Map && isSame([...one], [...other]);
  if (!isRecord(one) || !isRecord(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

function isSameText(one: RegExp | URL, other: unknown): boolean {
  return (other instanceof RegExp || other instanceof URL) && String(one) === String(other);
}
