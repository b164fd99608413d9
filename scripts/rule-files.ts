import { readFileSync } from 'node:fs';

/** The rule files that ship, in the folder `alerts`; the second needs the first. */
export const ruleFiles = ['zlb.rules.yml', 'zlb-extended.rules.yml'] as const;

/** Returns the texts of the rule files, in their order. */
export function readRuleFiles(): readonly string[] {
  return ruleFiles.map((name) => readFileSync(new URL(`../alerts/${name}`, import.meta.url), 'utf8'));
}
