import { inColumns } from '../results.ts';
import type { Played } from './scene.ts';

const shownRules = 5;

/** What Prometheus says of its groups, and of the slowest of their rules. */
export function sceneReport({ mood, series, memoryBytes, groups, othersShare }: Played): string {
  const rules = groups.flatMap((group) => group.rules);
  const alerts = rules.reduce((sum, rule) => sum + rule.alerts, 0);
  const time = (seconds: number) => `${seconds.toFixed(3)} s`;
  return [
    `Alert rules, ${mood} day: ${series} series, ${alerts} alerts fire; Prometheus has ${(memoryBytes / 1e9).toFixed(1)} GB.`,
    'Of three evaluations the slowest. Every group is evaluated each 15 s, zlb-traffic too, and no alert waits (`for`).',
    `Other programs took ${(100 * othersShare).toFixed(0)} % of the machine meanwhile.\n`,
    inColumns([
      ['group', 'rules', 'evaluation'],
      ...groups.map((group) => [group.name, String(group.rules.length), time(group.seconds)]),
    ]),
    '',
    inColumns([
      ['slowest rules', 'alerts', 'evaluation'],
      ...bySeconds(rules)
        .slice(0, shownRules)
        .map((rule) => [rule.name, String(rule.alerts), time(rule.seconds)]),
    ]),
  ].join('\n');
}

/** The slowest first. */
export function bySeconds<Timed extends { readonly seconds: number }>(all: readonly Timed[]): readonly Timed[] {
  return all.toSorted((a, b) => b.seconds - a.seconds);
}
