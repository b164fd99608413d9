import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { impatientRules, quickened } from '../../../scripts/stack/configuration.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly Readonly<Record<string, unknown>>[] }[];
}

const rulesOf = (text: string) => (parse(text) as Rules).groups.flatMap(({ rules }) => rules);

describe('what the stack makes of the files that ship', () => {
  it('lets no alert wait longer than it is told, and changes nothing else of the rules', () => {
    const shipped = rulesOf(readFileSync('alerts/zlb.rules.yml', 'utf8'));

    const hurried = rulesOf(impatientRules(readFileSync('alerts/zlb.rules.yml', 'utf8'), '15s'));

    const waits = (rules: typeof shipped) => rules.flatMap((rule) => [rule['for'], rule['keep_firing_for']]);
    expect(new Set(waits(shipped)).size).toBeGreaterThan(4);
    expect(new Set(waits(hurried))).toEqual(new Set([undefined, '15s']));
    const timeless = (rules: typeof shipped) => rules.map(({ for: _wait, keep_firing_for: _kept, ...rest }) => rest);
    expect(timeless(hurried)).toEqual(timeless(shipped));
  });

  it('scrapes and evaluates every few seconds', () => {
    const text = quickened(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));

    expect((parse(text) as { global: unknown }).global).toEqual({ scrape_interval: '5s', evaluation_interval: '5s' });
  });
});
