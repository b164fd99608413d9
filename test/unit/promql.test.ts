import { describe, expect, it } from 'vitest';
import { groupingLabelsOf, selectorsOf } from '../support/promql.ts';

describe('selectorsOf', () => {
  it('lists metrics and matchers wherever they stand', () => {
    expect(
      selectorsOf(
        `sum by (farm) (rate(zlb_a_total{farm=~"a|b",status!='x\\\\.y'}[5m] offset 1h)) / on (farm) -zlb_b > bool 2 or {__name__="zlb_c", farm!~\`\\d\`}`,
      ),
    ).toEqual([
      {
        metric: 'zlb_a_total',
        matchers: [
          { label: 'farm', op: '=~', value: 'a|b' },
          { label: 'status', op: '!=', value: 'x\\.y' },
        ],
      },
      { metric: 'zlb_b', matchers: [] },
      { metric: 'zlb_c', matchers: [{ label: 'farm', op: '!~', value: '\\d' }] },
    ]);
  });

  it('finds none in a number', () => {
    expect(selectorsOf('vector(1) + time()')).toEqual([]);
  });

  it.each(['sum(up', 'up{', 'up{job="a}', 'rat(up[5m])', 'up +', 'up up', 'rate(up[5q])', 'sum by farm (up)', ''])(
    'says where %j cannot be parsed',
    (expression) => {
      expect(() => selectorsOf(expression)).toThrow(/^not PromQL at character \d+: /);
    },
  );
});

describe('groupingLabelsOf', () => {
  const shortly = (expression: string) =>
    groupingLabelsOf(expression).map(({ clause, label, operands }) => [
      clause,
      label,
      operands.map(({ selectors, made }) => [...selectors.map(({ metric }) => metric), ...made].join(' ')),
    ]);

  it('gives every clause with what it is about', () => {
    expect(shortly('count by (a) (x) + ignoring (b, c) group_left (d) sum without (e) (y * on (f) z)')).toEqual([
      ['by', 'a', ['x']],
      ['ignoring', 'b', ['x', 'y z']],
      ['ignoring', 'c', ['x', 'y z']],
      ['group_left', 'd', ['x', 'y z']],
      ['without', 'e', ['y z']],
      ['on', 'f', ['y', 'z']],
    ]);
  });

  it('knows the labels that an expression makes', () => {
    expect(
      shortly('sum(label_replace(x, "made", "$1", "a", "(.*)")) by (made) and on (made) count_values("made", y)'),
    ).toEqual([
      ['by', 'made', ['x made']],
      ['on', 'made', ['x made', 'y made']],
    ]);
  });
});
