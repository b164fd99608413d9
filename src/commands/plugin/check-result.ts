import { oneLine } from '../../lib/text.ts';
import { UsageError } from '../usage-error.ts';
import type { Flags } from '../commands.ts';

/** The states of a monitoring plug-in, with their exit codes. */
export const exitCodes = { OK: 0, WARNING: 1, CRITICAL: 2, UNKNOWN: 3 } as const;

export type State = keyof typeof exitCodes;

/** One object, and its state. */
export interface CheckedObject {
  readonly state: State;
  readonly text: string;
}

/** A number for graphs. */
interface Measure {
  readonly label: string;
  readonly value: number;
  /** As ranges: `28:` is at least 28. */
  readonly warning?: string | undefined;
  readonly critical?: string | undefined;
}

/** The answer of a check: its findings, and what to say if none of them is a problem. */
export interface CheckResult {
  readonly findings: readonly CheckedObject[];
  readonly otherwise: string;
  readonly measures: readonly Measure[];
}

/** There is no reading to judge by; the state is UNKNOWN. */
export class NothingKnown extends Error {
  override readonly name = 'NothingKnown';
}

const worstFirst: readonly State[] = ['CRITICAL', 'WARNING', 'UNKNOWN'];
/** Findings of a line; the others are counted. */
const maxShown = 5;
/** Nagios cuts output at 8 KiB. */
const maxText = 1_000;

/** Returns the worst state of a result, and its line for a monitoring system. */
export function summarize({ findings, otherwise, measures }: CheckResult): {
  readonly state: State;
  readonly line: string;
} {
  const problems = worstFirst.flatMap((state) => findings.filter((finding) => finding.state === state));
  const shown = problems.slice(0, maxShown).map(({ text }) => text);
  const more = problems.length > maxShown ? [`${problems.length - maxShown} more`] : [];
  const state = problems[0]?.state ?? 'OK';
  const text = problems.length > 0 ? [...shown, ...more].join('; ') : otherwise;
  const numbers = measures.length > 0 ? ` | ${measures.map(numberText).join(' ')}` : '';
  return { state, line: `${lineOf(state, text)}${numbers}` };
}

/** Returns a line without numbers. A bar would begin the numbers. */
export function lineOf(state: State, text: string): string {
  return `${state} - ${oneLine(text.replaceAll('|', '/'), maxText)}`;
}

function numberText({ label, value, warning = '', critical = '' }: Measure): string {
  return `${label}=${Math.round(value * 100) / 100};${warning};${critical}`.replace(/(?<!;);+$/, '');
}

/** The numbers of `-w` and `-c`. */
export interface OkLimits {
  readonly warning: number | undefined;
  readonly critical: number | undefined;
}

/** Returns true if `-w` or `-c` was given. */
export function hasLimits({ warning, critical }: OkLimits): boolean {
  return warning !== undefined || critical !== undefined;
}

/** Which values are good: those of at least the limit, or of at most the limit. */
export type GoodValues = 'at least' | 'at most';

/** Reads `-w` and `-c`. `28:` is the same as 28 where values of at least 28 are good. */
export function limitsOf(flags: Flags, good: GoodValues): OkLimits {
  const warning = limitOf(flags, 'warning', good);
  const critical = limitOf(flags, 'critical', good);
  const isWrong =
    warning !== undefined && critical !== undefined && (good === 'at least' ? critical > warning : critical < warning);
  if (isWrong)
    throw new UsageError(
      `-c has to be ${good === 'at least' ? 'below' : 'above'} -w here: critical comes after the warning`,
    );
  return { warning, critical };
}

function limitOf(flags: Flags, name: 'warning' | 'critical', good: GoodValues): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const [, digits] = (good === 'at least' ? /^(\d{1,9}(?:\.\d{1,9})?):?$/ : /^(\d{1,9})$/).exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`-${name[0]} (--${name}) must be a number here, ${good} which a value is good`);
  return Number(digits);
}

/** Returns the state of a value by the limits. */
export function stateBy(
  { warning, critical }: OkLimits,
  value: number,
  good: GoodValues,
): 'OK' | 'WARNING' | 'CRITICAL' {
  const violates = (limit: number | undefined): boolean =>
    limit !== undefined && (good === 'at least' ? value < limit : value > limit);
  if (violates(critical)) return 'CRITICAL';
  return violates(warning) ? 'WARNING' : 'OK';
}

/** Returns the limits as ranges of a measure. */
export function rangesOf({ warning, critical }: OkLimits, good: GoodValues) {
  const range = (limit: number | undefined): string | undefined =>
    limit === undefined ? undefined : `${limit}${good === 'at least' ? ':' : ''}`;
  return { warning: range(warning), critical: range(critical) };
}
