import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse, stringify } from 'yaml';
import { parseDuration } from '../../src/lib/time.ts';
import { type Matcher, selectorsOf } from '../../test/support/promql.ts';

/** The rules as the benchmark has them. */
export interface MeasuredRules {
  /**
   * As YAML: every group as often as the others, and an alert fires as soon as its expression holds
   * and no longer. Expressions are as in the file.
   */
  readonly hurried: string;
  /** The offsets and ranges of their expressions. */
  readonly lookBacks: readonly LookBack[];
}

/** Samples that an expression reads beside the newest. */
export interface LookBack {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** How long ago they begin and end. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string | number }[] }[];
}

export const evaluationSeconds = 15;
/** How long Prometheus takes a sample for the newest. */
const newestSeconds = 300;

export function readRules(files: readonly string[]): MeasuredRules {
  const groups = files.flatMap((file) => (parse(readFileSync(file, 'utf8')) as Rules).groups);
  return {
    hurried: stringify({
      groups: groups.map((group) => ({
        ...group,
        interval: `${evaluationSeconds}s`,
        rules: group.rules.map((rule) => ({ ...rule, for: undefined, keep_firing_for: undefined })),
      })),
    }),
    lookBacks: groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => lookBacksOf(String(expr)))),
  };
}

/** True for a series that matchers ask for. */
export function matches(matchers: readonly Matcher[], labels: Readonly<Record<string, string>>): boolean {
  return matchers.every(({ label, op, value }) => {
    const is = labels[label] ?? '';
    const meets = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(is) : is === value;
    return meets === op.startsWith('=');
  });
}

/** Every range and every offset of an expression. */
function lookBacksOf(expression: string): readonly LookBack[] {
  const found: LookBack[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      if (node.name !== 'OffsetExpr' && node.name !== 'MatrixSelector') return true;
      const text = expression.slice(node.from, node.to);
      const [selector] = selectorsOf(text);
      if (!selector) throw new Error(`neither range nor offset of a metric: ${text}`);
      const range = secondsOf(/\[(\w+)\]/.exec(text)?.[1]) ?? newestSeconds;
      const offset = secondsOf(/ offset (\w+)$/.exec(text)?.[1]) ?? 0;
      found.push({ ...selector, fromSeconds: offset + range, toSeconds: offset });
      return false;
    },
  });
  return found;
}

/** Returns the seconds of a duration; undefined where an expression has none. */
function secondsOf(duration = ''): number | undefined {
  const ms = parseDuration(duration);
  return ms === undefined ? undefined : ms / 1_000;
}
