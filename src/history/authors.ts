import type { AttributableDifference } from './differences.ts';
import { outsideGateway } from './event.ts';
import { type Call, type Fit, fits, fitOfCall } from './explanations.ts';

/** A call through the gateway that may change the configuration of an appliance. */
export interface RecordedCall extends Call {
  readonly appliance: string;
  /** Such as `change ID by alice`. */
  readonly by: string;
  /** How it ended; undefined while it is under way. */
  readonly ended?: 'done' | 'refused' | 'unanswered' | undefined;
  /** True if it began after the previous reading came, and ended before this one was asked for. */
  readonly isBetween?: boolean;
}

/** The most people who are named as possible authors of one difference. */
const maxNamed = 4;

/**
 * Returns the author of a difference by the calls of its time, which come newest first: the caller of
 * the one that fits best, or all people whose calls fit equally. `elsewhere` is another possible
 * author if no call is certain.
 */
export function authorOf(difference: AttributableDifference, calls: readonly RecordedCall[]): string {
  const { asReplacement = [] } = difference;
  const found = calls.flatMap((call) => {
    const fit = fitOf(call, difference) ?? (asReplacement.some((each) => fitOf(call, each)) ? 'perhaps' : undefined);
    return fit === undefined ? [] : { by: call.by, rank: fits.indexOf(fit), isBetween: call.isBetween === true };
  });
  const best = Math.max(...found.map(({ rank }) => rank));
  // A call that was under way during the reading may come after all others.
  const isSure = found.some(({ rank, isBetween }) => rank === best && isBetween);
  const newest = new Map<string, string>();
  for (const { by, rank } of found)
    if ((rank === best || !isSure) && !newest.has(personOf(by))) newest.set(personOf(by), by);
  const named = [...newest.values()];
  const more = named.length - maxNamed;
  return [
    ...(best > fits.indexOf('perhaps') ? [] : [outsideGateway]),
    ...named.slice(0, maxNamed),
    ...(more > 0 ? [`${more} others`] : []),
  ].join(' or ');
}

/**
 * Replaces a new name by two differences if a call deleted the old object, or created the new one.
 */
export function splitReplacements(
  differences: readonly AttributableDifference[],
  calls: readonly RecordedCall[],
): readonly AttributableDifference[] {
  const isExplained = (difference: AttributableDifference): boolean =>
    calls.some((call) => ![undefined, 'perhaps'].includes(fitOf(call, difference)));
  return differences.flatMap((each) =>
    each.asReplacement?.some(isExplained) && !isExplained(each) ? each.asReplacement : each,
  );
}

function fitOf(call: RecordedCall, difference: AttributableDifference): Fit | undefined {
  const fit = fitOfCall(call, difference);
  if (call.ended === 'unanswered') return fit && 'perhaps';
  // Otherwise this reading may be older than the effect of the call, or the previous one may have it.
  const isProof = call.isBetween === true || (fit === 'exact' && difference.after !== undefined);
  if (call.ended !== 'refused') return isProof ? fit : fit && 'perhaps';
  // Of several settings, those before the refused one may have been set.
  return fit === 'exact' || fit === 'named' ? 'perhaps' : undefined;
}

/** Returns who made a call, without its number: `alice` of `call 1 by alice`. */
function personOf(by: string): string {
  return by.slice(by.indexOf(' by ') + 1);
}
