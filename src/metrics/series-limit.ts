import type { Family } from './family.ts';
import { type FamilySize, totalSeries } from './render.ts';

/**
 * The part of the limit that details may fill. The rest is kept for farms, certificates and sums,
 * which show what is wrong at all.
 */
const maxDetailRatio = 0.8;

/** The families that each reading may show. */
export interface Quota {
  /** True when all series fit. */
  readonly allowsAll: boolean;
  allows(key: string, family: Family): boolean;
}

interface Limited {
  readonly families: readonly FamilySize[];
  /** Undefined if it is not limited. */
  readonly rank: number | undefined;
}

/**
 * Divides the limit among all limited readings: first what is not a detail, by the rank of the
 * reading, then details; both in the order of the keys. The result depends on names and sizes, not
 * on the order of polls, so that the same farms keep their series from poll to poll.
 */
export function divideLimit(readings: ReadonlyMap<string, Limited>, maxSeries: number): Quota {
  const parts = [...readings].flatMap(([key, { families, rank }]) =>
    rank === undefined ? [] : { key, families, rank },
  );
  let details = 0;
  let others = 0;
  for (const { families } of parts)
    for (const each of families) {
      if (isDetail(each)) details += each.series;
      else others += each.series;
    }
  if (others <= maxSeries && details <= roomForDetails(maxSeries, others))
    return { allowsAll: true, allows: () => true };

  const quota = new Map<string, FamilySize[]>();
  const grant = (key: string, families: readonly FamilySize[], room: number): number => {
    const fit = fitting(families, room);
    quota.set(key, [...(quota.get(key) ?? []), ...fit]);
    return totalSeries(fit);
  };
  const byKey = parts.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  let shown = 0;
  for (const { key, families } of byKey.toSorted((one, other) => one.rank - other.rank))
    shown += grant(
      key,
      families.filter((each) => !isDetail(each)),
      maxSeries - shown,
    );
  let room = roomForDetails(maxSeries, shown);
  for (const { key, families } of byKey) room -= grant(key, families.filter(isDetail), room);
  return {
    allowsAll: false,
    allows: (key, family) => quota.get(key)?.some((granted) => granted.family === family) ?? false,
  };
}

function isDetail({ family }: FamilySize): boolean {
  return family.isDetail === true;
}

/** Returns how many series of details fit beside so many others. */
function roomForDetails(maxSeries: number, others: number): number {
  return Math.max(0, Math.min(Math.floor(maxSeries * maxDetailRatio), maxSeries - others));
}

/**
 * Returns the families that fit, the first ones first. A family is left out whole: half of it would
 * read as if the other half were gone.
 */
function fitting(families: readonly FamilySize[], room: number): readonly FamilySize[] {
  let left = room;
  return families.filter(({ series }) => {
    if (series > left) return false;
    left -= series;
    return true;
  });
}
