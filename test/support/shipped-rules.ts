import { parse, stringify } from 'yaml';
import { readRuleFiles } from '../../scripts/rule-files.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly Rule[];
}

/** The groups of each rule file that ships, the core first. */
export const shippedFiles = readRuleFiles().map((text) => {
  // Every expression becomes a text: YAML reads a mere number as a number.
  const file = parse(text, (key, value: unknown) => (key === 'expr' ? String(value) : value));
  return (file as { readonly groups: readonly RuleGroup[] }).groups;
});

/** All groups in one file. */
export const shippedText = stringify({ groups: shippedFiles.flat() });

/** The rules of all files, in their order. */
export const shippedRules = shippedFiles.flat().flatMap(({ rules }) => rules);

/** Returns rules whose alerts wait this long instead of two to seven minutes, as their expressions have it. */
export function withWaits(rules: string, seconds: number): string {
  return rules
    .replaceAll(/<= time\(\) - (?:120|180|300|420)\b/g, `<= time() - ${seconds}`)
    .replaceAll(/(?<=:(?:gone|page) )> time\(\) - (?:120|420)\b/g, `> time() - ${seconds}`);
}

/** The names of all alerts, each once, in their order. */
export const alertNames = [...new Set(shippedRules.flatMap(({ alert }) => alert ?? []))];

/** The expression of a rule, and the queries with which its annotations fill themselves in. */
export function expressionsOf({ expr, annotations = {} }: Rule): readonly string[] {
  const queries = Object.values(annotations).flatMap((text) => [...text.matchAll(/query \(printf "([^"]+)"/g)]);
  return [expr, ...queries.map(([, format = '']) => format.replaceAll('%q', '"x"'))];
}
