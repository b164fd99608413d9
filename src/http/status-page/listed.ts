const shown = 4;

/** `a, b, c, d and 12 more`. */
export function listed(words: readonly string[]): string {
  const rest = words.length - shown;
  return rest > 0 ? `${words.slice(0, shown).join(', ')} and ${rest} more` : words.join(', ');
}

/** `1 farm`, `1,200 farms`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}

/**
 * For sorting names: the same in every locale, and many times as fast as comparing by the rules of
 * one.
 */
export function compareNames(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The number of occurrences by key. */
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
