/** How bad something is, the worst first; each level has a colour, a shape and a word. */
export const allLevels = ['critical', 'warning', 'unknown', 'paused', 'well'] as const;

export type Level = (typeof allLevels)[number];

/** Returns a number for sorting, the worst first. */
export function levelRank(level: Level): number {
  return allLevels.indexOf(level);
}

export function worstLevel(levels: Iterable<Level>): Level {
  let found: Level = 'well';
  for (const level of levels) if (levelRank(level) < levelRank(found)) found = level;
  return found;
}
