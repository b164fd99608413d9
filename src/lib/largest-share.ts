/**
 * Returns the members of the largest share of a limited resource, in the order given, and whether one
 * of them may be evicted for the newcomer: its share must stay smaller.
 */
export function largestShare<Member>(all: Iterable<Member>, ownerOf: (member: Member) => string, newcomer: string) {
  const shares = Map.groupBy(all, ownerOf);
  const members = [...shares.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  return { members, mayEvict: members.length > (shares.get(newcomer)?.length ?? 0) + 1 };
}
