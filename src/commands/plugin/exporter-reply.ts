import { type Static, type TSchema, Type } from 'typebox';

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
type MonitoredAppliance = Static<typeof MonitoredAppliance>;
export type MonitoredCollector = Static<typeof MonitoredCollector>;

/** An appliance as the exporter sees it, and when that was, by the exporter's clock. */
export interface Seen {
  readonly appliance: MonitoredAppliance;
  /** True if it is a simulated one, because the exporter has no configuration. */
  readonly isDemonstration: boolean;
  readonly nowMs: number;
}
