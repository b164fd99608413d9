import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { collectors } from '../../../src/collectors/registry.ts';
import { lostAlerts } from '../../../src/commands/check/lost-alerts.ts';
import { selectorsOf } from '../../support/promql.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string | number;
}

const { groups } = parse(readFileSync('alerts/zlb.rules.yml', 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules.map((rule) => ({ ...rule, expr: String(rule.expr) })));

/** These tell that something is not known: a collector that knows nothing is what makes them fire. */
const tellOfSilence = /^Zlb(?:\w+Unwatched|ActivationUnknown)$/;

/** The collectors whose families an expression reads, through what is recorded as well. */
function collectorsOf(expression: string, seen = new Set<string>()): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { metric } of selectorsOf(expression)) {
    for (const { name, families } of collectors)
      if (families.some(({ family }) => family.name === metric)) found.add(name);
    if (seen.has(metric)) continue;
    seen.add(metric);
    for (const { expr } of rules.filter(({ record }) => record === metric))
      for (const name of collectorsOf(expr, seen)) found.add(name);
  }
  return found;
}

it('the alerts that check calls lost are those of the rules that need the collector', () => {
  const readers = new Map(rules.flatMap(({ alert, expr }) => (alert ? [[alert, collectorsOf(expr)]] : [])));

  for (const [collector, alerts] of lostAlerts)
    for (const alert of alerts) expect([...(readers.get(alert) ?? [])], alert).toContain(collector);
  const needOne = [...readers].filter(([alert, names]) => names.size === 1 && !tellOfSilence.test(alert));
  const missing = needOne.filter(([alert, [collector = '']]) => !lostAlerts.get(collector)?.includes(alert));
  expect(missing.map(([alert]) => alert)).toEqual([]);
});
