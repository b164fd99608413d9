/** How many there are of each. */
export type Counts<Key> = ReadonlyMap<Key, number>;

export function countsOf<Key>(all: readonly Key[]): Counts<Key> {
  const counts = new Map<Key, number>();
  for (const key of all) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export function sumOf<Key>(all: readonly Counts<Key>[]): Counts<Key> {
  const sums = new Map<Key, number>();
  for (const counts of all) for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
