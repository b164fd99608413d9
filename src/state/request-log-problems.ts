import { joinFirst } from '../lib/text.ts';
import { ago } from '../lib/time.ts';
import type { ProblemDraft } from './problem.ts';
import type { ApplianceStatus, FarmStatus } from './status.ts';

type LoggingAppliance = Pick<
  ApplianceStatus,
  'name' | 'farms' | 'objectives' | 'latencyObjectives' | 'isRequestLogEmpty'
>;

/** Returns why requests are not counted, or objectives not evaluated, of an appliance that sends its log. */
export function requestLogProblems(status: LoggingAppliance, nowMs: number): readonly ProblemDraft[] {
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
    ...emptyLogProblem(status, farms),
  ];
}

function unloggedProblem(appliance: string, farms: readonly FarmStatus[], nowMs: number): readonly ProblemDraft[] {
  const unlogged = farms.filter(({ logs, state }) => logs === false && state !== 'down');
  const names = unlogged.map(({ name }) => name);
  if (names.length === 0) return [];
  const readMs = unlogged.flatMap(({ configuredAtMs }) => configuredAtMs ?? []);
  const read = readMs.length > 0 ? ` Their configuration was read ${ago(Math.min(...readMs), nowMs)}.` : '';
  const title =
    names.length === 1
      ? `Farm ${names[0]} of ${appliance} logs no requests`
      : `${names.length} farms of ${appliance} log no requests`;
  return [
    {
      about: 'appliance',
      title,
      meaning: `Requests, errors and durations of ${joinFirst(names)} are not counted, and their objectives are not evaluated.${read}`,
      alert: 'ZlbRequestLogSilent',
    },
  ];
}

/** The log of zproxy has no durations (docs/request-log.md). */
function untimedProblem(
  { name: appliance, latencyObjectives = [] }: LoggingAppliance,
  farms: readonly FarmStatus[],
): readonly ProblemDraft[] {
  const untimed = farms.filter(({ name, proxy }) => proxy === 'zproxy' && latencyObjectives.includes(name));
  if (untimed.length === 0) return [];
  const names = joinFirst(untimed.map(({ name }) => name));
  return [
    {
      about: 'appliance',
      title: `The latency objective of ${names} on ${appliance} is never evaluated`,
      meaning: 'Its proxy is zproxy, whose log has no durations. Give the farm only an availability objective.',
      alert: 'ZlbRequestLogSilent',
    },
  ];
}

function emptyLogProblem(
  { name: appliance, objectives = [], isRequestLogEmpty }: LoggingAppliance,
  farms: readonly FarmStatus[],
): readonly ProblemDraft[] {
  const evaluated = farms.filter(
    ({ name, logs, state }) => objectives.includes(name) && logs !== false && state !== 'down',
  );
  if (!isRequestLogEmpty || evaluated.length === 0) return [];
  return [
    {
      about: 'appliance',
      title: `No request of ${appliance} has been counted from its log`,
      meaning: `No readable line about a request came for an hour or more: the objectives of ${joinFirst(evaluated.map(({ name }) => name))} are not evaluated.`,
      alert: 'ZlbRequestLogSilent',
    },
  ];
}
