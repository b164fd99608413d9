import { parser } from '@prometheus-io/lezer-promql';
import { type Matcher, selectorsOf } from '../../test/support/promql.ts';

/** Samples that an expression reads beside the newest. */
export interface LookBack {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** How long ago they begin and end. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** How long Prometheus takes a sample for the newest. */
const newestSeconds = 300;

/** Every range and every offset of an expression. */
export function lookBacksOf(expression: string): readonly LookBack[] {
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

/** Whether a series is one that matchers ask for. */
export function matches(matchers: readonly Matcher[], labels: Readonly<Record<string, string>>): boolean {
  return matchers.every(({ label, op, value }) => {
    const is = labels[label] ?? '';
    const meets = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(is) : is === value;
    return meets === op.startsWith('=');
  });
}

function secondsOf(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
  const parts = [...duration.matchAll(/(\d+)([smhd])/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? Number.NaN), 0);
}
