import type { Family } from '../metrics/family.ts';

/** How many series a part of the page would like to show in one family. */
export interface Wish {
  readonly family: Family;
  readonly series: number;
}

/** What details may fill of the limit. The rest is kept for farms, certificates and sums, which say what is wrong at all. */
const detailShare = 0.8;

/** Room for details beside so many series of all else. */
export function roomForDetails(maxSeries: number, others: number): number {
  return Math.max(0, Math.min(Math.floor(maxSeries * detailShare), maxSeries - others));
}

/**
 * The wishes that fit, the first ones first. A family is left out whole: half of it would read as if the other half were
 * gone.
 */
export function fitting<Of extends Wish>(wishes: readonly Of[], room: number): readonly Of[] {
  let left = room;
  return wishes.filter(({ series }) => {
    if (series > left) return false;
    left -= series;
    return true;
  });
}

/** Which families of details each part of the page may show. */
export interface Allotment {
  allows(key: string, family: Family): boolean;
}

/**
 * Shares the room among the details of all parts. It goes by the parts' keys and sizes and not by who was read last, so that from
 * poll to poll the same farms have theirs.
 */
export function allotDetails(
  parts: ReadonlyMap<string, { readonly wishes: readonly Wish[] }>,
  room: number,
): Allotment {
  let left = room;
  for (const { wishes } of parts.values()) left -= totalSeries(wishes);
  if (left >= 0) return { allows: () => true };

  left = room;
  const allotted = new Map<string, ReadonlySet<Family>>();
  for (const [key, { wishes }] of [...parts].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const fit = fitting(wishes, left);
    left -= totalSeries(fit);
    allotted.set(key, new Set(fit.map(({ family }) => family)));
  }
  return { allows: (key, family) => allotted.get(key)?.has(family) ?? false };
}

export function totalSeries(wishes: readonly Wish[]): number {
  return wishes.reduce((total, { series }) => total + series, 0);
}
