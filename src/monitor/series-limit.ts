import type { Family } from '../metrics/family.ts';

/** How many series a part of the page would like to show in one family. */
export interface Wish {
  readonly family: Family;
  readonly series: number;
}

/** What details may fill of the limit. The rest is kept for farms, certificates and sums, which say what is wrong at all. */
const detailShare = 0.8;

/** Which families each part of the page may show. */
export interface Allotment {
  /** Nothing has to give way. */
  readonly allowsAll: boolean;
  allows(key: string, family: Family): boolean;
}

/** A part of the page with all that it would like to show. */
interface Part {
  readonly wishes: readonly Wish[];
}

/** How many series wishes come to. */
export interface Sizes {
  readonly details: number;
  readonly others: number;
}

/** What rendered families would like to show; the list of before where that says the same. */
export function wishesOf(families: readonly Wish[], before: readonly Wish[] = []): readonly Wish[] {
  const isSame =
    before.length === families.length &&
    families.every(({ family, series }, index) => family === before[index]?.family && series === before[index].series);
  return isSame ? before : families.map(({ family, series }) => ({ family, series }));
}

export function sizesOf(wishes: readonly Wish[]): Sizes {
  return { details: totalSeries(wishes.filter(isDetail)), others: totalSeries(wishes.filter(isNoDetail)) };
}

export function plus(one: Sizes, other: Sizes): Sizes {
  return { details: one.details + other.details, others: one.others + other.others };
}

export function minus(one: Sizes, other: Sizes): Sizes {
  return { details: one.details - other.details, others: one.others - other.others };
}

/**
 * Shares the limit among all parts, which come to `demand`: first what is not detail, by the rank of the part, then
 * details; both by the parts' keys. It goes by that and by sizes and not by who was read last, so that from poll to poll
 * the same farms have theirs.
 */
export function allot<Of extends Part>(
  parts: ReadonlyMap<string, Of>,
  demand: Sizes,
  maxSeries: number,
  rank: (part: Of) => number,
): Allotment {
  const { details, others } = demand;
  if (others <= maxSeries && details <= roomForDetails(maxSeries, others))
    return { allowsAll: true, allows: () => true };

  const allotted = new Map<string, Wish[]>();
  const share = (key: string, wishes: readonly Wish[], room: number): number => {
    const fit = fitting(wishes, room);
    allotted.set(key, [...(allotted.get(key) ?? []), ...fit]);
    return totalSeries(fit);
  };
  const byKey = [...parts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  let shown = 0;
  for (const [key, { wishes }] of byKey.toSorted(([, one], [, other]) => rank(one) - rank(other)))
    shown += share(key, wishes.filter(isNoDetail), maxSeries - shown);
  let room = roomForDetails(maxSeries, shown);
  for (const [key, { wishes }] of byKey) room -= share(key, wishes.filter(isDetail), room);
  return {
    allowsAll: false,
    allows: (key, family) => allotted.get(key)?.some((wish) => wish.family === family) ?? false,
  };
}

function isDetail({ family }: Wish): boolean {
  return family.detail === true;
}

function isNoDetail(wish: Wish): boolean {
  return !isDetail(wish);
}

/** Room for details beside so many series of all else. */
function roomForDetails(maxSeries: number, others: number): number {
  return Math.max(0, Math.min(Math.floor(maxSeries * detailShare), maxSeries - others));
}

/**
 * The wishes that fit, the first ones first. A family is left out whole: half of it would read as if the other half were
 * gone.
 */
function fitting(wishes: readonly Wish[], room: number): readonly Wish[] {
  let left = room;
  return wishes.filter(({ series }) => {
    if (series > left) return false;
    left -= series;
    return true;
  });
}

export function totalSeries(wishes: readonly Wish[]): number {
  return wishes.reduce((total, { series }) => total + series, 0);
}
