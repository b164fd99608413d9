/**
 * Returns the members of the largest share of a limited resource, in the order given, and whether one
 * of them may be evicted for the newcomer: its share must stay smaller.
 */
export function largestShare<Member>(all: Iterable<Member>, ownerOf: (member: Member) => string, newcomer: string) {
  const shares = Map.groupBy(all, ownerOf);
  const members = [...shares.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  return { members, mayEvict: members.length > (shares.get(newcomer)?.length ?? 0) + 1 };
}

/**
 * Returns at most `max` items of a list, newest first. Owners with the most items lose their oldest
 * first; an owner with less than an equal share loses nothing.
 */
export function withinShares<Item>(
  newestFirst: readonly Item[],
  max: number,
  ownerOf: (item: Item) => string,
): readonly Item[] {
  const counts = new Map<string, number>();
  const ranked = newestFirst.map((item) => {
    const rank = counts.get(ownerOf(item)) ?? 0;
    counts.set(ownerOf(item), rank + 1);
    return { item, rank };
  });
  // The sort is stable, so that of equal ranks the newer items stay.
  const kept = new Set(ranked.toSorted((one, other) => one.rank - other.rank).slice(0, max));
  return ranked.filter((each) => kept.has(each)).map(({ item }) => item);
}
