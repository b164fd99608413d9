import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readRuleFiles } from '../../../scripts/rule-files.ts';
import { impatientRules, quickened } from '../../../scripts/stack/configuration.ts';
import { parseDuration } from '../../../src/lib/time.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly Readonly<Record<string, unknown>>[] }[];
}

const rulesOf = (text: string) => (parse(text) as Rules).groups.flatMap(({ rules }) => rules);

describe('what the stack makes of the files that ship', () => {
  it('shortens the waits of the alerts, keeps their order, and changes nothing else of the rules', () => {
    const shipped = readRuleFiles().flatMap(rulesOf);

    const hurried = rulesOf(impatientRules(readRuleFiles()));

    const waits = (rules: typeof shipped) =>
      rules
        .flatMap((rule) => [rule['for'], rule['keep_firing_for']])
        .map((wait) => (typeof wait === 'string' ? (parseDuration(wait) ?? Number.NaN) : 0));
    const pairs = waits(shipped).map((wait, index) => ({ wait, hurried: waits(hurried)[index] ?? Number.NaN }));
    const byHurriedWait = pairs.toSorted((one, other) => one.hurried - other.hurried).map(({ wait }) => wait);
    expect(byHurriedWait, 'the same order').toEqual(waits(shipped).toSorted((one, other) => one - other));
    expect(new Set(waits(hurried)).size, 'none became equal').toBe(new Set(waits(shipped)).size);
    expect(Math.max(...waits(hurried))).toBeLessThanOrEqual(90_000);
    const timeless = (rules: typeof shipped) =>
      rules.map(({ for: _wait, keep_firing_for: _kept, annotations: _texts, ...rest }) => rest);
    expect(timeless(hurried)).toEqual(timeless(shipped));
  });

  it('scrapes and evaluates every few seconds', () => {
    const text = quickened(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));

    expect((parse(text) as { global: unknown }).global).toEqual({ scrape_interval: '5s', evaluation_interval: '5s' });
  });
});
