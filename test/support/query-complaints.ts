import type { KnownSeries } from './known-series.ts';
import { groupingLabelsOf, type Operand, type Selector, selectorsOf } from './promql.ts';

/**
 * Returns the metrics, labels and states of an expression that do not exist. Throws if it cannot be
 * parsed.
 */
export function complaintsAbout(expression: string, known: ReadonlyMap<string, KnownSeries>): readonly string[] {
  const has = ({ selectors, made }: Operand, label: string) =>
    made.includes(label) || selectors.some(({ metric }) => known.get(metric)?.labels.has(label) ?? false);
  return [
    ...selectorsOf(expression).flatMap((selector) => complaintsAboutSelector(selector, known)),
    ...groupingLabelsOf(expression).flatMap(({ clause, label, operands }) => {
      // Labels to match on must be on both sides; a label to leave out, or to take over, on one of
      // them.
      const there =
        clause === 'on' ? operands.every((side) => has(side, label)) : operands.some((side) => has(side, label));
      return there ? [] : [`${clause} (${label}): no such label there`];
    }),
  ];
}

function complaintsAboutSelector(
  { metric, matchers }: Selector,
  known: ReadonlyMap<string, KnownSeries>,
): readonly string[] {
  const series = known.get(metric);
  if (!series) return [`${metric || 'a selector without a name'}: no such metric`];
  return matchers.flatMap(({ label, op, value }) => {
    if (!series.labels.has(label)) return [`${metric} has no label ${label}`];
    const values = series.values[label];
    const plain = /^[\w|]*$/.test(value);
    if (!values || !plain) return [];
    const named = op.endsWith('~') ? value.split('|') : [value];
    return named.filter((name) => !values.includes(name)).map((name) => `${metric} is never ${label}="${name}"`);
  });
}
