import { type Static, type TSchema, Type } from 'typebox';
import { alertThresholds } from '../../state/alert-thresholds.ts';
import { formatDuration } from '../../lib/time.ts';
import { type CheckedObject, NothingKnown } from './check-result.ts';

/** Left out, or null where it is not known. */
const unlessUnknown = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

const MonitoredBackend = Type.Object({ service: Type.String(), state: Type.String() });

const MonitoredFarm = Type.Object({
  name: Type.String(),
  profile: Type.String(),
  state: Type.String(),
  isSilent: unlessUnknown(Type.Boolean()),
  established: unlessUnknown(Type.Number()),
  pending: unlessUnknown(Type.Number()),
  backends: unlessUnknown(Type.Array(MonitoredBackend)),
});

const MonitoredCertificate = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  notBeforeSeconds: unlessUnknown(Type.Number()),
  notAfterSeconds: unlessUnknown(Type.Number()),
  usedBy: unlessUnknown(Type.Array(Type.String())),
  usersReadMs: unlessUnknown(Type.Number()),
  lastKnownUse: unlessUnknown(Type.Object({ farms: Type.Array(Type.String()), readMs: Type.Number() })),
});

const MonitoredActivation = Type.Object({
  status: Type.String(),
  kind: unlessUnknown(Type.String()),
  notBeforeSeconds: unlessUnknown(Type.Number()),
  notAfterSeconds: unlessUnknown(Type.Number()),
});

const MonitoredCollector = Type.Object({
  name: Type.String(),
  lastSuccessMs: unlessUnknown(Type.Number()),
  intervalMs: Type.Number(),
  isStale: Type.Boolean(),
  isSupported: Type.Boolean(),
  failure: unlessUnknown(Type.Object({ reason: Type.String() })),
});

/** A judgement of the exporter; the status page shows the same ones. */
const MonitoredProblem = Type.Object({
  level: Type.Enum(['critical', 'warning', 'unknown']),
  about: Type.String(),
  title: Type.String(),
  meaning: Type.String(),
  alert: Type.String(),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
});

const MonitoredAppliance = Type.Object({
  name: Type.String(),
  up: unlessUnknown(Type.Boolean()),
  deactivated: Type.Boolean(),
  farms: unlessUnknown(Type.Array(MonitoredFarm)),
  certificates: unlessUnknown(Type.Array(MonitoredCertificate)),
  activation: unlessUnknown(MonitoredActivation),
  collectors: Type.Array(MonitoredCollector),
  problems: Type.Array(MonitoredProblem),
});

/** The part of `/api/status` that the plug-in reads. */
export const ExporterReply = Type.Object({
  demonstration: Type.Boolean(),
  appliances: Type.Array(MonitoredAppliance),
});

export type ExporterReply = Static<typeof ExporterReply>;
export type MonitoredFarm = Static<typeof MonitoredFarm>;
export type MonitoredProblem = Static<typeof MonitoredProblem>;
export type MonitoredCertificate = Static<typeof MonitoredCertificate>;

/** An appliance as the exporter sees it, and when that was, by the exporter's clock. */
export interface SeenAppliance {
  readonly appliance: Static<typeof MonitoredAppliance>;
  /** True if it is a simulated one, because the exporter has no configuration. */
  readonly isDemonstration: boolean;
  readonly nowMs: number;
}

/** Returns why what a collector reads must not be shown as fresh; undefined if it may. */
export function overdue(collector: Static<typeof MonitoredCollector>, nowMs: number): string | undefined {
  const { name, lastSuccessMs, intervalMs, isStale, failure } = collector;
  const because = failure ? ` (${failure.reason})` : '';
  if (lastSuccessMs == null) return `${name} was not read since the exporter was started${because}`;
  const ageMs = nowMs - lastSuccessMs;
  if (!isStale && ageMs <= alertThresholds.collectorStaleIntervals * intervalMs) return undefined;
  return `the last good reading of ${name} is ${formatDuration(ageMs)} old${because}`;
}

/** Throws NothingKnown if the readings of a collector are absent or too old. */
export function requireFresh(seen: SeenAppliance, name: string): void {
  const problem = overdueReading(seen, name);
  if (problem !== undefined) throw new NothingKnown(problem);
}

/**
 * Returns why the readings of a collector must not be shown as fresh; undefined if they may. Throws
 * NothingKnown if it does not read at all.
 */
export function overdueReading({ appliance, nowMs }: SeenAppliance, name: string): string | undefined {
  const collector = appliance.collectors.find((each) => each.name === name);
  if (!collector) throw new NothingKnown(`the exporter does not read ${name} from ${appliance.name}`);
  if (!collector.isSupported) throw new NothingKnown(`${appliance.name} does not offer ${name}`);
  const problem = overdue(collector, nowMs);
  return problem && `${appliance.name}: ${problem}`;
}

/** Returns the problems of a kind of object, the worst first. */
export function problemsAbout({ appliance }: SeenAppliance, about: string): readonly MonitoredProblem[] {
  return appliance.problems.filter((problem) => problem.about === about);
}

/** Returns a judgement of the exporter as a finding of the plug-in. */
export function findingOf({ level, title, meaning }: MonitoredProblem): CheckedObject {
  const states = { critical: 'CRITICAL', warning: 'WARNING', unknown: 'UNKNOWN' } as const;
  return {
    state: states[level],
    text: `${title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}: ${meaning.replace(/\.$/, '')}`,
  };
}
