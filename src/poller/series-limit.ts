import type { Family } from '../metrics/family.ts';

/** The series that a reading has in one family. */
export interface SeriesRequest {
  readonly family: Family;
  readonly series: number;
}

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

/** A reading with the series of its families. */
interface Part {
  readonly requests: readonly SeriesRequest[];
}

/** Numbers of series. */
export interface Sizes {
  readonly details: number;
  readonly others: number;
}

/** Returns the series of rendered families; the list of before where it has the same content. */
export function requestsOf(
  families: readonly SeriesRequest[],
  before: readonly SeriesRequest[] = [],
): readonly SeriesRequest[] {
  const isSame =
    before.length === families.length &&
    families.every(({ family, series }, index) => family === before[index]?.family && series === before[index].series);
  return isSame ? before : families.map(({ family, series }) => ({ family, series }));
}

export function sizesOf(requests: readonly SeriesRequest[]): Sizes {
  return { details: totalSeries(requests.filter(isDetail)), others: totalSeries(requests.filter(isOther)) };
}

export function plus(one: Sizes, other: Sizes): Sizes {
  return { details: one.details + other.details, others: one.others + other.others };
}

export function minus(one: Sizes, other: Sizes): Sizes {
  return { details: one.details - other.details, others: one.others - other.others };
}

/**
 * Divides the limit among all readings, which need `demand`: first what is no detail, by the rank
 * of the reading, then details; both in the order of the keys. The result depends on names and
 * sizes, not on the order of polls, so that the same farms keep their series from poll to poll.
 */
export function divideLimit<Of extends Part>(
  parts: ReadonlyMap<string, Of>,
  demand: Sizes,
  maxSeries: number,
  rank: (part: Of) => number,
): Quota {
  const { details, others } = demand;
  if (others <= maxSeries && details <= roomForDetails(maxSeries, others))
    return { allowsAll: true, allows: () => true };

  const quota = new Map<string, SeriesRequest[]>();
  const grant = (key: string, requests: readonly SeriesRequest[], room: number): number => {
    const fit = fitting(requests, room);
    quota.set(key, [...(quota.get(key) ?? []), ...fit]);
    return totalSeries(fit);
  };
  const byKey = [...parts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  let shown = 0;
  for (const [key, { requests }] of byKey.toSorted(([, one], [, other]) => rank(one) - rank(other)))
    shown += grant(key, requests.filter(isOther), maxSeries - shown);
  let room = roomForDetails(maxSeries, shown);
  for (const [key, { requests }] of byKey) room -= grant(key, requests.filter(isDetail), room);
  return {
    allowsAll: false,
    allows: (key, family) => quota.get(key)?.some((request) => request.family === family) ?? false,
  };
}

function isDetail({ family }: SeriesRequest): boolean {
  return family.detail === true;
}

function isOther(request: SeriesRequest): boolean {
  return !isDetail(request);
}

/** Returns how many series of details fit beside so many others. */
function roomForDetails(maxSeries: number, others: number): number {
  return Math.max(0, Math.min(Math.floor(maxSeries * maxDetailRatio), maxSeries - others));
}

/**
 * Returns the requests that fit, the first ones first. A family is left out whole: half of it would
 * read as if the other half were gone.
 */
function fitting(requests: readonly SeriesRequest[], room: number): readonly SeriesRequest[] {
  let left = room;
  return requests.filter(({ series }) => {
    if (series > left) return false;
    left -= series;
    return true;
  });
}

export function totalSeries(requests: readonly SeriesRequest[]): number {
  return requests.reduce((total, { series }) => total + series, 0);
}
