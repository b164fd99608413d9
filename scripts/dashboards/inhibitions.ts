import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal?: readonly string[];
}

const example = readFileSync(new URL('../../alerts/alertmanager.example.yml', import.meta.url), 'utf8');
const { inhibit_rules: rules } = parse(example) as { readonly inhibit_rules: readonly InhibitRule[] };

/**
 * Returns the alerts of an expression without those that notify nobody, because the inhibitions
 * that ship explain them by an alert about their whole exporter or appliance. Inhibitions between
 * objects are left out: a query has to fit into an address. Prometheus knows nothing of silences.
 */
export function notifying(alerts: string): string {
  const wide = rules.filter(({ equal = [] }) =>
    equal.every((label) => ['job', 'instance', 'appliance'].includes(label)),
  );
  const heldBack = wide.map(({ source_matchers: source, target_matchers: target, equal = [] }) => {
    const explanation = `ALERTS{${[...source, 'alertstate="firing"'].join(',')}}`;
    return `ALERTS{${target.join(',')}} and on (${equal.join(',')}) ${explanation}`;
  });
  return `(${alerts}) unless (${heldBack.join(' or ')})`;
}
