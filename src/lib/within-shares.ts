/**
 * Returns at most `max` items of a list, newest first. Owners with the most items lose their oldest
 * first; an owner with less than an equal share loses nothing.
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
