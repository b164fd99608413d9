/**
 * The shape of a JSON value as a set of `path: type`; the elements of a list are taken together.
 * Two values have the same shape when the sets are equal.
 */
function shapeOf(value: unknown, path = ''): Set<string> {
  if (Array.isArray(value)) {
    const items = value.flatMap((item) => [...shapeOf(item, `${path}[]`)]);
    return new Set(items.length === 0 ? [`${path}: empty list`] : items);
  }
  if (typeof value !== 'object' || value === null)
    return new Set([`${path}: ${value === null ? 'null' : typeof value}`]);
  const entries = Object.entries(value).flatMap(([key, inner]) => [...shapeOf(inner, `${path}.${key}`)]);
  return new Set(entries.length === 0 ? [`${path}: empty object`] : entries);
}

/** Returns the differences of two shapes, in both directions. */
export function shapeDifferences(expected: unknown, actual: unknown): readonly string[] {
  const [wanted, given] = [shapeOf(expected), shapeOf(actual)];
  return [
    ...[...wanted].filter((line) => !given.has(line)).map((line) => `lacks ${line}`),
    ...[...given].filter((line) => !wanted.has(line)).map((line) => `adds ${line}`),
  ];
}
