import { listed } from '../lib/text.ts';
import { ago } from '../lib/time.ts';
import type { OwnProblem } from './problem.ts';
import type { ApplianceStatus } from './status.ts';

/** Returns why requests of an appliance that sends its log are not counted, or not judged. */
export function requestLogProblems(
  { name: appliance, farms, objectives }: Pick<ApplianceStatus, 'name' | 'farms' | 'objectives'>,
  nowMs: number,
): readonly OwnProblem[] {
  if (!objectives || !farms) return [];
  const names = new Set(farms.map(({ name }) => name));
  const unlogged = farms.filter(({ logs, state }) => logs === false && state !== 'down');
  const silent = unlogged.map(({ name }) => name);
  const readMs = unlogged.flatMap(({ configuredAtMs }) => configuredAtMs ?? []);
  const read = readMs.length > 0 ? ` Their configuration was read ${ago(Math.min(...readMs), nowMs)}.` : '';
  const ofObjectives = objectives
    .filter((farm) => !names.has(farm))
    .map((farm) => ({
      about: 'appliance' as const,
      title: `${appliance} has no farm ${farm}, which has an objective`,
      meaning: 'It was renamed or deleted, or its name is misspelt: errors of its clients alert nobody.',
      alert: 'ZlbObjectiveWithoutFarm' as const,
    }));
  if (silent.length === 0) return ofObjectives;
  const title =
    silent.length === 1
      ? `Farm ${silent[0]} of ${appliance} logs no requests`
      : `${silent.length} farms of ${appliance} log no requests`;
  return [
    ...ofObjectives,
    {
      about: 'appliance',
      title,
      meaning: `Requests, errors and times of ${listed(silent)} are not counted, and no objective of theirs is judged.${read}`,
      alert: 'ZlbRequestLogSilent',
    },
  ];
}
