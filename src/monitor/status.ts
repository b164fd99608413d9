import type { BreakerState } from '../appliance/breaker.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { TransitionObject } from '../collectors/collector.ts';
import type { SkipReason } from './counters.ts';

/**
 * What `/` and `/api/status` show. Stale readings are not here; what the series limit leaves out of `/metrics` is. Times are
 * Unix milliseconds, or seconds where a name says so; ages are for the reader to compute.
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
  /** Undefined where never read, or stale, as all lists here. An empty list was read and is empty. */
  readonly farms: readonly FarmStatus[] | undefined;
  readonly certificates: readonly CertificateStatus[] | undefined;
  readonly activation: ActivationStatus | undefined;
  readonly interfaces: readonly InterfaceStatus[] | undefined;
  /** As `zlb_exporter_series`. */
  readonly series: number;
  /** Series above the limit, which `/metrics` leaves out. */
  readonly seriesLeftOut: number;
  /** Data of collectors that nothing above presents, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
  /** Those that are on, in order of priority. */
  readonly collectors: readonly CollectorStatus[];
}

export interface FarmStatus extends Dated {
  readonly name: string;
  readonly profile: string;
  /** A word of `transitionStates.farm`. */
  readonly state: string;
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  readonly established?: number | undefined;
  readonly pending?: number | undefined;
  /** False when one of its services has none; absent where nobody says. */
  readonly hasHealthCheck?: boolean | undefined;
  /** Files that it presents; absent where that was not read. */
  readonly certificates?: readonly string[] | undefined;
  /** Undefined where never read, stale, or not known because the farm is stopped. An empty list was read and is empty. */
  readonly backends: readonly BackendStatus[] | undefined;
  /** Only where `backends` is undefined and the configuration of the farm was read. */
  readonly configuredBackends?: readonly BackendName[] | undefined;
  /** Data of collectors that nothing above presents, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
}

export interface BackendName {
  /** Empty where the farm has no services. */
  readonly service: string;
  /** The label of the metrics: `ip:port`, with `#id` where a service has the address twice. */
  readonly backend: string;
}

export interface BackendStatus extends BackendName, Dated {
  /** A word of `transitionStates.backend`. */
  readonly state: string;
  readonly established?: number | undefined;
}

export interface InterfaceStatus extends Dated {
  readonly name: string;
  /** A word of `transitionStates.interface`. */
  readonly state: string;
}

export interface Dated {
  /** When it was seen to change to its state; absent where it was so when first seen. */
  readonly sinceMs?: number | undefined;
}

export interface CertificateStatus {
  readonly file: string;
  readonly kind: 'certificate' | 'csr';
  readonly commonName: string;
  readonly issuer: string;
  /** A word of `transitionStates.certificate`; the appliance's own, so judge by the date as well. */
  readonly state: string;
  readonly notAfterSeconds: number | undefined;
  /** As `zlb_certificate_parse_error`: a date of it cannot be read. */
  readonly isUnreadable: boolean;
  /** Farms that present it; undefined while that is not known of all farms. */
  readonly usedBy: readonly string[] | undefined;
}

export interface ActivationStatus {
  /** A word of `transitionStates.activation`. */
  readonly status: string;
  readonly kind?: string | undefined;
  readonly notAfterSeconds?: number | undefined;
}

export interface CollectorStatus {
  readonly name: string;
  /** How the last run ended; undefined before the first one. */
  readonly ok: boolean | undefined;
  readonly lastSuccessMs: number | undefined;
  /** In effect, after stretching. */
  readonly intervalMs: number;
  /** True when something that it read is stale; of a collector that asks farm by farm, of one farm at least. */
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
