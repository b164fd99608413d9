import type { Family } from './family.ts';
import type { FamilySize } from './render.ts';

/**
 * The part of the limit that details may fill. The rest is kept for farms, certificates and sums,
 * which show what is wrong at all.
 */
const maxDetailRatio = 0.8;

interface LimitedSamples {
  readonly families: readonly FamilySize[];
  /** Undefined if it is not limited. */
  readonly rank: number | undefined;
}

/**
 * Returns the families under each limited key that stay within the limit; undefined if all do.
 * First come those that are not details, by their rank, then details; both in the order of the
 * keys. The result depends on names and sizes, not on the order of polls, so that the same farms keep
 * their series from poll to poll. A family is left out whole: half of it would read as if the other
 * half were gone.
 */
export function familiesWithinLimit(
  samples: ReadonlyMap<string, LimitedSamples>,
  maxSeries: number,
): ReadonlyMap<string, ReadonlySet<Family>> | undefined {
  const limited = [...samples].flatMap(([key, { families, rank }]) =>
    rank === undefined ? [] : { key, families, rank },
  );
  const maxDetails = Math.floor(maxSeries * maxDetailRatio);
  let details = 0;
  let others = 0;
  for (const { families } of limited)
    for (const each of families) {
      if (isDetail(each)) details += each.series;
      else others += each.series;
    }
  if (others + details <= maxSeries && details <= maxDetails) return undefined;

  const shown = new Map(limited.map(({ key }) => [key, new Set<Family>()]));
  const byKey = limited.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  let left = maxSeries;
  const admit = (key: string, families: readonly FamilySize[]): void => {
    for (const { family, series } of families) {
      if (series > left) continue;
      shown.get(key)?.add(family);
      left -= series;
    }
  };
  for (const { key, families } of byKey.toSorted((one, other) => one.rank - other.rank))
    admit(
      key,
      families.filter((each) => !isDetail(each)),
    );
  left = Math.min(left, maxDetails);
  for (const { key, families } of byKey) admit(key, families.filter(isDetail));
  return shown;
}

function isDetail({ family }: FamilySize): boolean {
  return family.isDetail === true;
}
