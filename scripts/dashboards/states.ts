import { MappingType, type ValueMap, type ValueMappingResult } from '@grafana/grafana-foundation-sdk/dashboard';
import { stateSetOf } from '../families.ts';
import { leastUp, once, series } from './queries.ts';

export type Words = Readonly<Record<string | number, ValueMappingResult>>;

/** The colour of unknown states, different from that of good ones. */
const unknown = 'purple';

const colours: Readonly<Record<string, readonly string[]>> = {
  green: ['up', 'ok', 'activated', 'valid', 'closed'],
  blue: ['maintenance', 'not_applicable', 'not_configured'],
  yellow: ['needed_restart', 'about_to_expire', 'half_open', 'connecting', 'unloaded'],
  orange: ['problem'],
  red: ['down', 'critical', 'deactivated', 'expired', 'invalid', 'failure', 'unreachable', 'error', 'open'],
  'semi-dark-red': ['ipsec_down', 'tunnel_down', 'l2tp_down', 'route_down'],
  [unknown]: ['unknown'],
};

export const yesNo = {
  answers: words({ 1: ['answers', 'green'], 0: ['no answer', 'red'] }),
  up: words({ 1: ['up', 'green'], 0: ['down', 'red'] }),
  severity: words({ 3: ['critical', 'red'], 2: ['warning', 'orange'], 1: ['info', 'blue'] }),
  linked: words({ 1: ['yes', 'green'], 0: ['none', 'text'] }),
  read: words({ 0: ['yes', 'green'], 1: ['no', 'red'] }),
  frozen: words({ 0: ['open', 'green'], 1: ['frozen', 'blue'] }),
  inForce: words({ 1: ['in force', 'green'], 0: ['refused', 'red'] }),
  reachable: words({ 1: ['reachable', 'green'], 0: ['not reachable', 'red'] }),
  inStore: words({ 1: ['yes', 'green'], 0: ['another one', 'orange'] }),
  covers: words({ 1: ['yes', 'green'], 0: ['no', 'red'] }),
  success: words({ 1: ['ok', 'green'], 0: ['failed', 'red'] }),
} as const;

/** Numbers as words. */
export function words(entries: Readonly<Record<string | number, readonly [text: string, color: string]>>): Words {
  return Object.fromEntries(
    Object.entries(entries).map(([value, [text, color]], index) => [value, { text, color, index }]),
  );
}

export function mapping(words: Words): ValueMap {
  return { type: MappingType.ValueToText, options: { ...words } };
}

/** The states of a set as its label has them, with their colours. */
export function stateWords(metric: string): Words {
  return words(Object.fromEntries(stateSetOf(metric).states.map((state) => [state, wordAndColour(state)])));
}

/** The states of a set by the numbers of {@link stateNumber}. */
export function numberedWords(metric: string): Words {
  return words(Object.fromEntries(stateSetOf(metric).states.map((state, index) => [index + 1, wordAndColour(state)])));
}

/**
 * A state set as one series for each object, whose number stands for the state: a timeline needs
 * one line for one object.
 */
export function stateNumber(metric: string, by: string, ...matchers: readonly string[]): string {
  return once(by, numbered(metric, matchers));
}

/** The same, for those forty that were up the least. */
export function leastUpStates(metric: string, by: string, ...matchers: readonly string[]): string {
  return once(by, leastUp(by, series(metric, ...matchers, 'status="up"'), `(${numbered(metric, matchers)})`));
}

/**
 * The first state, which nearly all objects have, comes last: each `or` goes through all that stands
 * before it.
 */
function numbered(metric: string, matchers: readonly string[]): string {
  const { states, stateLabel } = stateSetOf(metric);
  const parts = states.map(
    (state, index) => `${index + 1} * (${series(metric, ...matchers, `${stateLabel}="${state}"`)} == 1)`,
  );
  return `\n  ${parts.toReversed().join('\n  or ')}\n`;
}

function wordAndColour(state: string): readonly [string, string] {
  const colour = Object.keys(colours).find((colour) => colours[colour]?.includes(state));
  if (!colour) throw new Error(`the state ${state} has no colour; give it one in scripts/dashboards/states.ts`);
  return [state.replaceAll('_', ' '), colour];
}
