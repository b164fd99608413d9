import type { FoundDifference } from './differences.ts';
import { outsideGateway } from './event.ts';
import { type Call, type Fit, fits, fitOfCall } from './writes.ts';

/** A call through the gateway that may change the configuration of an appliance. */
export interface GatewayCall extends Call {
  readonly appliance: string;
  /** Such as `change ID by alice`. */
  readonly by: string;
  /** How it ended; undefined while it is under way. */
  readonly ended?: 'done' | 'refused' | 'unanswered' | undefined;
  /** True if it began after the reading before came, and was over before this one was asked for. */
  readonly isBetween?: boolean;
}

/** The most people that are named as the author of one difference. */
const maxNamed = 4;

/**
 * Names the author of a difference by the calls of its time, the newest first: of several that fit
 * the most exact one, or all people whose calls fit equally. A call that may not have done it
 * stands beside `elsewhere`.
 */
export function authorOf(difference: FoundDifference, calls: readonly GatewayCall[]): string {
  const { parts = [] } = difference;
  const found = calls.flatMap((call) => {
    const fit = fitOf(call, difference) ?? (parts.some((part) => fitOf(call, part)) ? 'perhaps' : undefined);
    return fit === undefined ? [] : { by: call.by, rank: fits.indexOf(fit), isBetween: call.isBetween === true };
  });
  const best = Math.max(...found.map(({ rank }) => rank));
  // A call under way during the reading comes perhaps after all others.
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
 * Returns the differences, and two in the place of each new name that is more likely an object
 * that one call deleted, and another that one has created.
 */
export function withParts(
  differences: readonly FoundDifference[],
  calls: readonly GatewayCall[],
): readonly FoundDifference[] {
  const isMade = (difference: FoundDifference): boolean =>
    calls.some((call) => ![undefined, 'perhaps'].includes(fitOf(call, difference)));
  return differences.flatMap((each) => (each.parts?.some(isMade) && !isMade(each) ? each.parts : each));
}

function fitOf(call: GatewayCall, difference: FoundDifference): Fit | undefined {
  const fit = fitOfCall(call, difference);
  if (call.ended === 'unanswered') return fit && 'perhaps';
  // Otherwise the reading may be older than its effect, or the one before may have it already.
  const isProof = call.isBetween === true || (fit === 'exact' && difference.after !== undefined);
  if (call.ended !== 'refused') return isProof ? fit : fit && 'perhaps';
  // Of several settings, those before the refused one may be set.
  return fit === 'exact' || fit === 'named' ? 'perhaps' : undefined;
}

/** Returns who made a call, without its number: `alice` of `call 1 by alice`. */
function personOf(by: string): string {
  return by.slice(by.indexOf(' by ') + 1);
}
