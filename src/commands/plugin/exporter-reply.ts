import { alertThresholds } from '../../state/alert-thresholds.ts';
import { flag, list, maybe, number, object, type Shaped, table, text, word } from '../../lib/shape.ts';
import { formatDuration } from '../../lib/time.ts';
import { type CheckedObject, UnknownStateError } from './check-result.ts';

const MonitoredFarm = object({
  name: text,
  profile: text,
  state: text,
  isSilent: maybe(flag),
  proxy: maybe(text),
  established: maybe(number),
  pending: maybe(number),
  backends: maybe(list(object({ service: text, state: text }))),
});

const MonitoredCertificate = object({
  file: text,
  kind: text,
  notBeforeSeconds: maybe(number),
  notAfterSeconds: maybe(number),
  usedBy: maybe(list(text)),
  usersReadMs: maybe(number),
  lastKnownUse: maybe(object({ farms: list(text), readMs: number })),
});

const MonitoredActivation = object({
  status: text,
  kind: maybe(text),
  notBeforeSeconds: maybe(number),
  notAfterSeconds: maybe(number),
});

const MonitoredCollector = object({
  name: text,
  lastSuccessMs: maybe(number),
  intervalMs: number,
  isStale: flag,
  isSupported: flag,
  failure: maybe(object({ reason: text })),
});

/** A judgement of the exporter; the status page shows the same ones. */
const MonitoredProblem = object({
  level: word('critical', 'warning', 'unknown'),
  about: text,
  title: text,
  meaning: text,
  alert: text,
  labels: maybe(table(text)),
});

const MonitoredAppliance = object({
  name: text,
  up: maybe(flag),
  deactivated: flag,
  farms: maybe(list(MonitoredFarm)),
  certificates: maybe(list(MonitoredCertificate)),
  activation: maybe(MonitoredActivation),
  collectors: list(MonitoredCollector),
  problems: list(MonitoredProblem),
});

/** The part of `/api/status` that the plug-in reads. */
export const ExporterReply = object({ demonstration: flag, appliances: list(MonitoredAppliance) });

export type MonitoredFarm = Shaped<typeof MonitoredFarm>;
export type MonitoredProblem = Shaped<typeof MonitoredProblem>;
export type MonitoredCertificate = Shaped<typeof MonitoredCertificate>;

/** An appliance as the exporter sees it, and when that was, by the exporter's clock. */
export interface SeenAppliance {
  readonly appliance: Shaped<typeof MonitoredAppliance>;
  /** True if it is a simulated one, because the exporter has no configuration. */
  readonly isDemonstration: boolean;
  readonly nowMs: number;
  /** How it was asked, for `-v`. */
  readonly asked?: readonly string[];
}

/** Returns why what a collector reads must not be shown as fresh; undefined if it may. */
export function overdueText(collector: Shaped<typeof MonitoredCollector>, nowMs: number): string | undefined {
  const { name, lastSuccessMs, intervalMs, isStale, failure } = collector;
  const because = failure ? ` (${failure.reason})` : '';
  if (lastSuccessMs == null) return `${name} was not read since the exporter was started${because}`;
  const ageMs = nowMs - lastSuccessMs;
  if (!isStale && ageMs <= alertThresholds.collectorStaleIntervals * intervalMs) return undefined;
  return `the last good reading of ${name} is ${formatDuration(ageMs)} old${because}`;
}

/** Throws UnknownStateError if the readings of a collector are absent or too old. */
export function assertFresh(seen: SeenAppliance, name: string): void {
  const problem = overdueReadingText(seen, name);
  if (problem !== undefined) throw new UnknownStateError(problem);
}

/**
 * Returns why the readings of a collector must not be shown as fresh; undefined if they may. Throws
 * UnknownStateError if it does not read at all.
 */
export function overdueReadingText({ appliance, nowMs }: SeenAppliance, name: string): string | undefined {
  const collector = appliance.collectors.find((each) => each.name === name);
  if (!collector) throw new UnknownStateError(`the exporter does not read ${name} from ${appliance.name}`);
  if (!collector.isSupported) throw new UnknownStateError(`${appliance.name} does not offer ${name}`);
  const problem = overdueText(collector, nowMs);
  return problem && `${appliance.name}: ${problem}`;
}

/** Returns the problems of a kind of object, the worst first. */
export function problemsAbout({ appliance }: SeenAppliance, about: string): readonly MonitoredProblem[] {
  return appliance.problems.filter((problem) => problem.about === about);
}

export function findingOf({ level, title, meaning }: MonitoredProblem): CheckedObject {
  const states = { critical: 'CRITICAL', warning: 'WARNING', unknown: 'UNKNOWN' } as const;
  return {
    state: states[level],
    text: title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()),
    more: meaning.replace(/\.$/, ''),
  };
}
