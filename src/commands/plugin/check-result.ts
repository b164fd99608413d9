import { oneLine } from '../../lib/text.ts';
import { UsageError } from '../command.ts';
import type { Flags } from '../flags.ts';

/** The states of a monitoring plug-in, with their exit codes. */
export const exitCodes = { OK: 0, WARNING: 1, CRITICAL: 2, UNKNOWN: 3 } as const;

export type State = keyof typeof exitCodes;

export interface CheckedObject {
  readonly state: State;
  readonly text: string;
  /** Follows the text where there is room. */
  readonly more?: string;
}

interface PerformanceValue {
  readonly label: string;
  readonly value: number;
  readonly unit?: '%';
  /** As ranges: `28:` is at least 28. */
  readonly warning?: string | undefined;
  readonly critical?: string | undefined;
  readonly min?: number;
  readonly max?: number;
}

/** The result of a check: its findings, and what to say if none of them is a problem. */
export interface CheckResult {
  readonly findings: readonly CheckedObject[];
  readonly okText: string;
  readonly performanceData: readonly PerformanceValue[];
}

/** Thrown if there is no reading to judge by; the state is then UNKNOWN. */
export class UnknownStateError extends Error {
  override readonly name = 'UnknownStateError';
}

const worstFirst: readonly State[] = ['CRITICAL', 'WARNING', 'UNKNOWN'];
/** The text of the first line: a short message carries as much. */
const maxFirst = 160;
/** Nagios cuts output at 8 KiB. */
const maxLines = 40;
const maxLine = 500;

/** The output of a check: its first line, and the lines of its long output. */
export interface Summary {
  readonly state: State;
  readonly lines: readonly string[];
}

/**
 * Returns the worst state of a result, and its lines for a monitoring system. The first line has
 * what fits into a short message, and the numbers; the others have each object that is not in it
 * whole. `isVerbose` adds those that are OK, and the lines of `asked`.
 */
export function summarize(
  { findings, okText, performanceData }: CheckResult,
  {
    prefix = '',
    isVerbose = false,
    asked = [],
  }: { prefix?: string; isVerbose?: boolean; asked?: readonly string[] } = {},
): Summary {
  const problems = worstFirst.flatMap((state) => findings.filter((finding) => finding.state === state));
  const state = problems[0]?.state ?? 'OK';
  const room = maxFirst - `${state} - ${prefix}`.length;
  const whole = problems.length > 0 ? problems.map(wholeText).join('; ') : okText;
  const first = whole.length <= room || problems.length === 0 ? whole : shortText(problems, room);
  const objects = isVerbose ? [...problems, ...findings.filter((finding) => finding.state === 'OK')] : problems;
  const isLong = isVerbose || first !== whole || oneLine(first, room) !== first;
  const numbers = performanceData.length > 0 ? ` | ${performanceData.map(numberText).join(' ')}` : '';
  return {
    state,
    lines: [
      `${lineOf(state, `${prefix}${first}`)}${numbers}`,
      ...(isLong ? longLines(objects) : []),
      ...(isVerbose ? asked.map((line) => withoutBars(line, maxLine)) : []),
    ],
  };
}

function wholeText({ text, more }: CheckedObject): string {
  return more === undefined ? text : `${text}: ${more}`;
}

/**
 * Returns as many texts as there is room for, and the number of the others. An appliance may have
 * tens of thousands of problems, and at most one fits per character.
 */
function shortText(problems: readonly CheckedObject[], room: number): string {
  for (let count = Math.min(problems.length, room); count > 1; count -= 1) {
    const rest = problems.length - count;
    const text = [...problems.slice(0, count).map((each) => each.text), ...(rest > 0 ? [`${rest} more`] : [])].join(
      '; ',
    );
    if (text.length <= room) return text;
  }
  const rest = problems.length > 1 ? `; ${problems.length - 1} more` : '';
  return `${problems[0]?.text.slice(0, room - rest.length) ?? ''}${rest}`;
}

function longLines(objects: readonly CheckedObject[]): readonly string[] {
  const lines = objects.slice(0, maxLines).map((each) => `${each.state}: ${withoutBars(wholeText(each), maxLine)}`);
  return objects.length > maxLines ? [...lines, `${objects.length - maxLines} more`] : lines;
}

function lineOf(state: State, text: string): string {
  return withoutBars(`${state} - ${text}`, maxFirst);
}

/** Returns a line without a bar, which would begin the numbers. */
function withoutBars(line: string, maxLength: number): string {
  return oneLine(line.replaceAll('|', '/'), maxLength);
}

function numberText({ label, value, unit, warning, critical, min, max }: PerformanceValue): string {
  const thresholds = [warning, critical, min, max].map((limit) => limit ?? '').join(';');
  return `${label}=${Math.round(value * 100) / 100}${unit ?? ''};${thresholds}`.replace(/(?<!;);+$/, '');
}

/** The values that are good: from `least` to `most`, or all others. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly isOutside: boolean;
  /** As the guidelines write it. */
  readonly text: string;
}

/** The values that `-w` and `-c` call good. */
export interface Thresholds {
  readonly warning: Range | undefined;
  readonly critical: Range | undefined;
}

/** Returns true if `-w` or `-c` was given. */
export function hasThresholds({ warning, critical }: Thresholds): boolean {
  return warning !== undefined || critical !== undefined;
}

/** The values that a single number calls good: at least it, or at most it. */
export type GoodValues = 'at least' | 'at most';

/** Reads `-w` and `-c`; throws a UsageError. */
export function parseThresholds(flags: Pick<Flags, 'warning' | 'critical'>, good: GoodValues): Thresholds {
  const warning = parseThreshold(flags, 'warning', good);
  const critical = parseThreshold(flags, 'critical', good);
  if (warning && critical && isContrary(warning, critical))
    throw new UsageError(
      `-c has to be ${good === 'at least' ? 'below' : 'above'} -w here: critical comes after the warning`,
    );
  return { warning, critical };
}

/** Returns true if a value can be critical before it is a warning: both have one end, the same. */
function isContrary(warning: Range, critical: Range): boolean {
  if (warning.isOutside || critical.isOutside) return false;
  if (warning.most === Infinity && critical.most === Infinity) return critical.least > warning.least;
  return warning.least <= 0 && critical.least <= 0 && critical.most < warning.most;
}

/** Parses `10`, `10:`, `~:10`, `10:20` and `@10:20`. */
function parseThreshold(
  flags: Pick<Flags, 'warning' | 'critical'>,
  name: 'warning' | 'critical',
  good: GoodValues,
): Range | undefined {
  const given = flags[name];
  if (given === undefined) return undefined;
  const text = good === 'at least' ? given.replace(/^[\d.]+$/, '$&:') : given;
  const number = String.raw`-?\d{1,9}(?:\.\d{1,9})?`;
  const [, at, from, to] = new RegExp(`^(@?)(?:(~|${number})?:)?(${number})?$`).exec(text) ?? [];
  const least = from === '~' ? -Infinity : Number(from ?? 0);
  const most = to === undefined ? Infinity : Number(to);
  if (at === undefined || (from === undefined && to === undefined) || least > most)
    throw new UsageError(`-${name[0]} (--${name}) must be a number or a range here, such as 10:20, 10: or @10:20`);
  return { least, most, isOutside: at === '@', text };
}

export function stateOfValue({ warning, critical }: Thresholds, value: number): 'OK' | 'WARNING' | 'CRITICAL' {
  const isOutOfRange = (range: Range | undefined): boolean =>
    range !== undefined && (value >= range.least && value <= range.most) === range.isOutside;
  if (isOutOfRange(critical)) return 'CRITICAL';
  return isOutOfRange(warning) ? 'WARNING' : 'OK';
}

/** Returns the limits as ranges of a measure. */
export function thresholdTexts({ warning, critical }: Thresholds) {
  return { warning: warning?.text, critical: critical?.text };
}
