/** The candidate that a mistyped word probably meant: at most two letters off, a third of the word at most. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    // What differs more than that in length alone need not be compared: it may be a whole file in one word.
    .filter((candidate) => Math.abs(word.length - candidate.length) <= 2)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.min(2, candidate.length / 3))
    .sort((one, other) => one.distance - other.distance);
  return ranked[0]?.candidate;
}

/** Letters to insert, drop or change to make one word of the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 0; row < from.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column += 1) {
      const changed = (previous[column] ?? 0) + (from[row] === to[column] ? 0 : 1);
      current.push(Math.min(changed, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
