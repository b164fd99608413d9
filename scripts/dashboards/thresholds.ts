import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const rulesFile = new URL('../../alerts/zlb.rules.yml', import.meta.url);

interface Rule {
  readonly record?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly expr: string | number;
}

export type Threshold = (name: string) => number;

/** The thresholds of the alerts, so that a board turns red where an alert fires; as numbers, for boards must do without the rules. */
export function readThresholds(): Threshold {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] };
  const thresholds = new Map(
    groups
      .flatMap(({ rules }) => rules)
      .filter(({ record }) => record === 'zlb:threshold')
      .map(({ labels, expr }) => [labels?.['name'] ?? '', product(`${expr}`)]),
  );
  return (name) => {
    const value = thresholds.get(name);
    if (value === undefined) throw new Error(`alerts/zlb.rules.yml records no zlb:threshold{name="${name}"}`);
    return value;
  };
}

/** `28 * 86400`. */
function product(expression: string): number {
  const value = expression.split('*').reduce((result, factor) => result * Number(factor), 1);
  if (Number.isNaN(value))
    throw new Error(`a threshold of alerts/zlb.rules.yml is no number or product: ${expression}`);
  return value;
}
