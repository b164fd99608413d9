import { expect, it } from 'vitest';
import { collectors } from '../../../src/collectors/registry.ts';
import { lostAlerts } from '../../../src/commands/check/findings.ts';
import { selectorsOf } from '../../support/promql.ts';
import { alertNames, shippedRules } from '../../support/shipped-rules.ts';

/** The collectors whose families an expression reads, through recorded series as well. */
function collectorsOf(expression: string, seen = new Set<string>()): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { metric } of selectorsOf(expression)) {
    for (const { name, families } of collectors)
      if (families.some(({ family }) => family.name === metric)) found.add(name);
    if (seen.has(metric)) continue;
    seen.add(metric);
    for (const { expr } of shippedRules.filter(({ record }) => record === metric))
      for (const name of collectorsOf(expr, seen)) found.add(name);
  }
  return found;
}

const alerts = alertNames.map((name) => {
  const rules = shippedRules.filter(({ alert }) => alert === name);
  return {
    alert: name,
    readings: rules.flatMap(({ annotations }) => annotations?.['reading'] ?? []),
    readers: new Set(rules.flatMap(({ expr }) => [...collectorsOf(expr)])),
  };
});

it('every alert names the readings that it needs, and its rule uses them', () => {
  const wrong = alerts.filter(({ readings, readers }) => readings.some((reading) => !readers.has(reading)));
  // The farms only tell whether one that vanished was renamed, and the licence what is not read anyway.
  const need = alerts.filter(({ alert }) => alert !== 'ZlbApplianceVanished' && alert !== 'ZlbCollectorStale');
  const missing = need.filter(({ readings, readers }) => readings.length === 0 && readers.size === 1);

  expect(wrong.map(({ alert }) => alert)).toEqual([]);
  expect(missing.map(({ alert }) => alert)).toEqual([]);
});

it('check reports the alerts that depend on a missing reading', () => {
  for (const { name } of collectors) {
    const needing = new Set(alerts.filter(({ readings }) => readings.includes(name)).map(({ alert }) => alert));
    expect(new Set(lostAlerts([name]))).toEqual(needing);
  }
  expect(lostAlerts(['farms', 'backends'])).toEqual(expect.arrayContaining(['ZlbFarmDown', 'ZlbBackendDown']));
});
