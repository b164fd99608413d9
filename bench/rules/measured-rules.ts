import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { type LookBack, lookBacksOf } from './look-backs.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string | number }[] }[];
}

/** The rules as the benchmark has them. */
export interface MeasuredRules {
  /**
   * As YAML: every group as often as the others, and an alert fires as soon as its expression holds and no longer. Expressions
   * are as in the file.
   */
  readonly hurried: string;
  /** What their expressions look back at. */
  readonly lookBacks: readonly LookBack[];
}

export const evaluationSeconds = 15;
export const shippedRules = fileURLToPath(new URL('../../alerts/zlb.rules.yml', import.meta.url));

export function readRules(file: string): MeasuredRules {
  const { groups } = parse(readFileSync(file, 'utf8')) as Rules;
  return {
    hurried: stringify({
      groups: groups.map((group) => ({
        ...group,
        interval: `${evaluationSeconds}s`,
        rules: group.rules.map((rule) => ({ ...rule, for: undefined, keep_firing_for: undefined })),
      })),
    }),
    lookBacks: groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => lookBacksOf(String(expr)))),
  };
}
