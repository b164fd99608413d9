import { listed } from '../lib/text.ts';
import { ago } from '../lib/time.ts';
import type { OwnProblem } from './problem.ts';
import type { ApplianceStatus, FarmStatus } from './status.ts';

type Logging = Pick<ApplianceStatus, 'name' | 'farms' | 'objectives' | 'latencyObjectives' | 'isLogSilent'>;

/** Returns why requests of an appliance that sends its log are not counted, or not judged. */
export function requestLogProblems(status: Logging, nowMs: number): readonly OwnProblem[] {
  const { name: appliance, farms, objectives } = status;
  if (!objectives || !farms) return [];
  const names = new Set(farms.map(({ name }) => name));
  const ofObjectives = objectives
    .filter((farm) => !names.has(farm))
    .map((farm) => ({
      about: 'appliance' as const,
      title: `${appliance} has no farm ${farm}, which has an objective`,
      meaning: 'It was renamed or deleted, or its name is misspelt: errors of its clients alert nobody.',
      alert: 'ZlbObjectiveWithoutFarm' as const,
    }));
  return [
    ...ofObjectives,
    ...unloggedProblem(appliance, farms, nowMs),
    ...untimedProblem(status, farms),
    ...silentProblem(status, farms),
  ];
}

function unloggedProblem(appliance: string, farms: readonly FarmStatus[], nowMs: number): readonly OwnProblem[] {
  const unlogged = farms.filter(({ logs, state }) => logs === false && state !== 'down');
  const silent = unlogged.map(({ name }) => name);
  if (silent.length === 0) return [];
  const readMs = unlogged.flatMap(({ configuredAtMs }) => configuredAtMs ?? []);
  const read = readMs.length > 0 ? ` Their configuration was read ${ago(Math.min(...readMs), nowMs)}.` : '';
  const title =
    silent.length === 1
      ? `Farm ${silent[0]} of ${appliance} logs no requests`
      : `${silent.length} farms of ${appliance} log no requests`;
  return [
    {
      about: 'appliance',
      title,
      meaning: `Requests, errors and times of ${listed(silent)} are not counted, and no objective of theirs is judged.${read}`,
      alert: 'ZlbRequestLogSilent',
    },
  ];
}

/** The log of zproxy has no durations (docs/request-log.md). */
function untimedProblem(
  { name: appliance, latencyObjectives = [] }: Logging,
  farms: readonly FarmStatus[],
): readonly OwnProblem[] {
  const untimed = farms.filter(({ name, proxy }) => proxy === 'zproxy' && latencyObjectives.includes(name));
  if (untimed.length === 0) return [];
  const names = listed(untimed.map(({ name }) => name));
  return [
    {
      about: 'appliance',
      title: `The objective of latency of ${names} on ${appliance} is never judged`,
      meaning: 'Its proxy is zproxy, whose log has no durations. Give the farm an objective of availability alone.',
      alert: 'ZlbRequestLogSilent',
    },
  ];
}

function silentProblem(
  { name: appliance, objectives = [], isLogSilent }: Logging,
  farms: readonly FarmStatus[],
): readonly OwnProblem[] {
  const judged = farms.filter(
    ({ name, logs, state }) => objectives.includes(name) && logs !== false && state !== 'down',
  );
  if (!isLogSilent || judged.length === 0) return [];
  return [
    {
      about: 'appliance',
      title: `No request of ${appliance} has been counted since its log has been received`,
      meaning: `In an hour or more, no line about a request came that can be read: the objectives of ${listed(judged.map(({ name }) => name))} are not judged.`,
      alert: 'ZlbRequestLogSilent',
    },
  ];
}
