import { type Static, type TSchema, Type } from 'typebox';
import { alertThresholds } from '../../lib/alert-thresholds.ts';
import { formatDuration } from '../../lib/time.ts';
import { NothingKnown } from './check-result.ts';

/** Left out, or null where it is not known. */
const unlessUnknown = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

const MonitoredBackend = Type.Object({ service: Type.String(), state: Type.String() });

const MonitoredFarm = Type.Object({
  name: Type.String(),
  profile: Type.String(),
  state: Type.String(),
  established: unlessUnknown(Type.Number()),
  pending: unlessUnknown(Type.Number()),
  backends: unlessUnknown(Type.Array(MonitoredBackend)),
});

const MonitoredCertificate = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  state: Type.String(),
  isUnreadable: Type.Boolean(),
  notBeforeSeconds: unlessUnknown(Type.Number()),
  notAfterSeconds: unlessUnknown(Type.Number()),
  usedBy: unlessUnknown(Type.Array(Type.String())),
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

const MonitoredAppliance = Type.Object({
  name: Type.String(),
  up: unlessUnknown(Type.Boolean()),
  deactivated: Type.Boolean(),
  breaker: Type.String(),
  farms: unlessUnknown(Type.Array(MonitoredFarm)),
  certificates: unlessUnknown(Type.Array(MonitoredCertificate)),
  activation: unlessUnknown(MonitoredActivation),
  collectors: Type.Array(MonitoredCollector),
});

/** The part of `/api/status` that the plug-in reads. */
export const ExporterReply = Type.Object({
  demonstration: Type.Boolean(),
  appliances: Type.Array(MonitoredAppliance),
});

export type ExporterReply = Static<typeof ExporterReply>;
export type MonitoredFarm = Static<typeof MonitoredFarm>;
export type MonitoredCertificate = Static<typeof MonitoredCertificate>;

/** An appliance as the exporter sees it, and when that was, by the exporter's clock. */
export interface Seen {
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
export function requireFresh({ appliance, nowMs }: Seen, name: string): void {
  const collector = appliance.collectors.find((each) => each.name === name);
  if (!collector) throw new NothingKnown(`the exporter does not read ${name} from ${appliance.name}`);
  if (!collector.isSupported) throw new NothingKnown(`${appliance.name} does not offer ${name}`);
  const problem = overdue(collector, nowMs);
  if (problem !== undefined) throw new NothingKnown(`${appliance.name}: ${problem}`);
}
