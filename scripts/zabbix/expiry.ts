import { alertThresholds } from '../../src/lib/alert-thresholds.ts';

const daySeconds = 86_400;

/** The windows of certificates and licences as macros. */
export const expiryMacros: Readonly<Record<string, string>> = {
  '{$ZLB.EXPIRY.SOON}': `${alertThresholds.expirySoonSeconds / daySeconds}d`,
  '{$ZLB.EXPIRY.SOON.RATIO}': `${alertThresholds.expirySoonRatio}`,
  '{$ZLB.EXPIRY.IMMINENT}': `${alertThresholds.expiryImminentSeconds / daySeconds}d`,
  '{$ZLB.EXPIRY.IMMINENT.RATIO}': `${alertThresholds.expiryImminentRatio}`,
};

/** Seconds that are left. */
export const left = '(last($not_after)-now())';

/**
 * Below both: days, and the part of its life. The beginning is 0 if unknown; then the days decide.
 */
export const imminent = within('IMMINENT');
export const soon = `${within('SOON')} and not (${imminent})`;

function within(window: 'SOON' | 'IMMINENT'): string {
  const life = '(last($not_after)-last($not_before))';
  return `${left}<{$ZLB.EXPIRY.${window}} and ${left}<{$ZLB.EXPIRY.${window}.RATIO}*${life}`;
}
