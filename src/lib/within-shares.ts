/**
 * Returns at most so many of a list whose newest items come first. Those owners lose their oldest
 * that have the most: an owner with less than an equal share loses nothing.
 */
export function withinShares<Item>(
  newestFirst: readonly Item[],
  max: number,
  ownerOf: (item: Item) => string,
): readonly Item[] {
  if (newestFirst.length <= max) return newestFirst;
  const shares = new Map<string, number>();
  for (const item of newestFirst) shares.set(ownerOf(item), (shares.get(ownerOf(item)) ?? 0) + 1);
  for (let excess = newestFirst.length - max; excess > 0; excess -= 1) {
    const [owner, most] = [...shares].reduce((one, other) => (other[1] > one[1] ? other : one));
    shares.set(owner, most - 1);
  }
  return newestFirst.filter((item) => {
    const left = shares.get(ownerOf(item)) ?? 0;
    shares.set(ownerOf(item), left - 1);
    return left > 0;
  });
}

/**
 * Returns the largest share of a limited resource, oldest first, and whether it loses a part for
 * the newcomer: its own would then still be smaller. `all` is oldest first.
 */
export function largestShare<T>(all: Iterable<T>, ownerOf: (part: T) => string, newcomer: string) {
  const shares = Map.groupBy(all, ownerOf);
  const members = [...shares.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  return { members, mayEvict: members.length > (shares.get(newcomer)?.length ?? 0) + 1 };
}
