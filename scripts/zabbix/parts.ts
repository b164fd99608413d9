import { alertThresholds } from '../../src/lib/alert-thresholds.ts';
import type { Labels } from './catalogue.ts';

/** An item: one number or word of the page of metrics. */
export interface Item {
  /** The last part of its key. */
  readonly key: string;
  readonly name: string;
  readonly metric: string;
  /** Labels beside those of its discovery; `!` before a value means any other. */
  readonly where?: Labels;
  /** Labels of its discovery that the metric does not have. */
  readonly without?: readonly string[];
  /** `state` is the word of a state set; `label` the value of a label. */
  readonly take?: 'value' | 'state' | { readonly label: string } | { readonly function: 'sum' | 'count' };
  readonly units?: 'unixtime' | 's' | 'B' | 'bps' | '%';
  /** A counter as its change in a second, multiplied by a number. */
  readonly rateTimes?: number;
  /** The value while the metric is absent; without it, the item is then not supported. */
  readonly absent?: string;
  readonly valueMap?: string;
}

/** A trigger, which has the name, the severity and the time of an alert. */
export interface Trigger {
  readonly alert: string;
  /** `$key` stands for an item, `$for` for the time of the alert. */
  readonly problem: string;
  /** When the problem is over; without it, when `problem` is not true any more. */
  readonly recovery?: string;
  /** A part of the name, where several triggers of a rule have the same alert. */
  readonly about?: string;
  /** Alerts of triggers of the same rule that explain this one. */
  readonly unless?: readonly string[];
}

/** A low-level discovery: what is found, and the items and triggers of each. */
export interface Discovery {
  readonly key: string;
  readonly name: string;
  readonly metric: string;
  readonly where?: Labels;
  /** Labels that name what is found, beside `appliance`. */
  readonly labels: readonly string[];
  /** The name of what is found. */
  readonly subject: string;
  readonly items: readonly Item[];
  readonly triggers: readonly Trigger[];
}

/** Written where a state has no reading: it is never the last one that was known. */
export const noReading = 'no reading';

/** An item with the state of a state set. */
export function stateItem(metric: string, more: Partial<Item> = {}): Item {
  return { key: 'state', name: 'state', metric, take: 'state', absent: noReading, ...more };
}

/** Returns a regular expression for one of the words. */
export function oneOf(words: readonly string[]): string {
  return `^(${words.join('|')})$`;
}

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
