/** Shorter prefixes are ambiguous. */
const minPrefixLength = 4;

/**
 * Returns the candidate that a mistyped word probably means: at most two mistakes, and at most one
 * in three letters; otherwise the only candidate that begins with the word.
 */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    // Skips words of very different length: a word may be a whole file.
    .filter((candidate) => Math.abs(word.length - candidate.length) <= 2)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.min(2, candidate.length / 3))
    .sort((one, other) => one.distance - other.distance);
  if (ranked[0] || word.length < minPrefixLength) return ranked[0]?.candidate;
  const longer = candidates.filter((candidate) => candidate.toLowerCase().startsWith(word.toLowerCase()));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Returns the Damerau-Levenshtein distance of two words. */
function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 0; row < from.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column += 1) {
      const changed = (previous[column] ?? 0) + (from[row] === to[column] ? 0 : 1);
      const exchanged =
        row > 0 && column > 0 && from[row] === to[column - 1] && from[row - 1] === to[column]
          ? (beforePrevious[column - 1] ?? 0) + 1
          : changed;
      current.push(Math.min(changed, exchanged, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
