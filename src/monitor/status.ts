import type { BreakerState } from '../appliance/breaker.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { TransitionObject } from '../collectors/collector.ts';
import type {
  ActivationFinding,
  BackendFinding,
  CertificateFinding,
  ConfiguredBackend,
  FarmFinding,
  InterfaceFinding,
} from '../collectors/findings.ts';
import type { SkipReason } from './counters.ts';

/**
 * What `/` and `/api/status` show. What `/metrics` withholds for its age or for the limit of series is not here either. Times
 * are Unix milliseconds, or seconds where a name says so; ages are for the reader to compute. What did not change is the
 * very same object as before, the whole included: comparing by identity tells.
 */
export interface FleetStatus {
  /** In the order of the configuration. */
  readonly appliances: readonly ApplianceStatus[];
  /** Newest first, at most 200 of all appliances together; a reload keeps them, a restart does not. */
  readonly transitions: readonly RecentTransition[];
}

export interface ApplianceStatus {
  readonly name: string;
  /** From the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  /** As `zlb_up`; undefined before the first call came back. */
  readonly up: boolean | undefined;
  /** True after a 402, until a call behind the activation check succeeds. */
  readonly deactivated: boolean;
  readonly version: string | undefined;
  readonly edition: string | undefined;
  readonly hostname: string | undefined;
  readonly breaker: BreakerState;
  /** Undefined where never read, or withheld, as all lists here. An empty list was read and is empty. */
  readonly farms: readonly FarmStatus[] | undefined;
  readonly certificates: readonly CertificateStatus[] | undefined;
  readonly activation: ActivationFinding | undefined;
  readonly interfaces: readonly InterfaceStatus[] | undefined;
  /** As `zlb_exporter_series`. */
  readonly series: number;
  /** Those above the limit, which are not among them; what they would have said is not here either. */
  readonly seriesLeftOut: number;
  /** Those that are on, in order of precedence. */
  readonly collectors: readonly CollectorStatus[];
}

export interface FarmStatus extends FarmFinding, Dated {
  /** False when one of its services has none; absent where nobody says. */
  readonly hasHealthCheck?: boolean | undefined;
  /** Files that it presents; absent where that was not read. */
  readonly certificates?: readonly string[] | undefined;
  /** Undefined where never read, withheld, or not known because the farm is stopped. An empty list was read and is empty. */
  readonly backends: readonly BackendStatus[] | undefined;
  /** Only where `backends` is undefined and the configuration of the farm was read. */
  readonly configuredBackends?: readonly ConfiguredBackend[] | undefined;
}

export type BackendStatus = BackendFinding & Dated;

export type InterfaceStatus = InterfaceFinding & Dated;

export interface Dated {
  /** When it was seen to change to its state; absent where it was so when first seen. */
  readonly sinceMs?: number | undefined;
}

export interface CertificateStatus extends CertificateFinding {
  /** Farms that present it; undefined while that is not known of all farms. */
  readonly usedBy: readonly string[] | undefined;
}

export interface CollectorStatus {
  readonly name: string;
  /** How the last run ended; undefined before the first one. */
  readonly ok: boolean | undefined;
  readonly lastSuccessMs: number | undefined;
  /** In effect, after stretching. */
  readonly intervalMs: number;
  /** Something that it read is withheld for its age; of a collector that asks farm by farm, of one farm at least. */
  readonly isStale: boolean;
  /** False where the appliance lacks what it reads. */
  readonly isSupported: boolean;
  /** Absent while it gets all that it asks for. */
  readonly failure?: CollectorFailure | undefined;
}

export interface CollectorFailure {
  /** Of the newest failure; why it is not asked for only where nothing failed before that. */
  readonly reason: FailureReason | SkipReason;
  /** When the trouble began. */
  readonly sinceMs: number;
}

export interface RecentTransition {
  /** When it was seen, at a poll. */
  readonly atMs: number;
  readonly appliance: string;
  readonly object: TransitionObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
}
