import { readFileSync } from 'node:fs';

/** The rule files that ship, in the folder `alerts`; each further one needs the first only. */
export const ruleFiles = ['zlb.rules.yml', 'zlb-extended.rules.yml', 'zlb-requests.rules.yml'] as const;

/** Returns the texts of the rule files, in their order. */
export function readRuleFiles(): readonly string[] {
  return ruleFiles.map((name) => readFileSync(new URL(`../alerts/${name}`, import.meta.url), 'utf8'));
}
