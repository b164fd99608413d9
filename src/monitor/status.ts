import type { BreakerState } from '../appliance/breaker.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { TransitionObject } from '../collectors/collector.ts';
import type { SkipReason } from './counters.ts';

/**
 * What `/` and `/api/status` show. What is withheld from `/metrics` for its age or for the limit of series is not here
 * either. All times are of the wall clock in Unix milliseconds, or seconds where a name says so; ages are for the reader to
 * compute. What did not change is the very same object as before, the whole included: comparing by identity tells.
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
  /** Undefined where never read, or withheld; so with all lists here. An empty list was read and is empty. */
  readonly farms: readonly FarmStatus[] | undefined;
  readonly certificates: readonly CertificateStatus[] | undefined;
  readonly activation: ActivationStatus | undefined;
  readonly interfaces: readonly InterfaceStatus[] | undefined;
  /** As `zlb_exporter_series`. */
  readonly series: number;
  /** Those that are on, in order of precedence. */
  readonly collectors: readonly CollectorStatus[];
}

export interface FarmStatus {
  readonly name: string;
  readonly profile: string;
  /** A word of `transitionStates.farm`. */
  readonly state: string;
  readonly vip?: string;
  readonly vport?: string;
  readonly established?: number;
  readonly pending?: number;
  /** When it was seen to change to this state; absent where it was so when first seen. */
  readonly sinceMs?: number;
  /** False when one of its services has none; absent where nobody says. */
  readonly hasHealthCheck?: boolean;
  /** Files that it presents; absent where that was not read. */
  readonly certificates?: readonly string[];
  readonly backends: readonly BackendStatus[] | undefined;
}

export interface BackendStatus {
  /** Empty where the farm has no services. */
  readonly service: string;
  /** The label of the metrics: `ip:port`, with `#id` where a service has the address twice. */
  readonly backend: string;
  /** A word of `transitionStates.backend`. */
  readonly state: string;
  /** When it was seen to change to this state; absent where it was so when first seen. */
  readonly sinceMs?: number;
  readonly established?: number;
}

export interface CertificateStatus {
  readonly file: string;
  readonly kind: 'certificate' | 'csr';
  readonly commonName: string;
  readonly issuer: string;
  /** A word of `transitionStates.certificate`; the appliance's own, so go by the date as well. */
  readonly state: string;
  readonly notAfterSeconds: number | undefined;
  /** Its dates make no sense to us. */
  readonly isUnreadable: boolean;
  /** Farms that present it; undefined while that is not known of all farms. */
  readonly usedBy: readonly string[] | undefined;
}

export interface ActivationStatus {
  /** A word of `transitionStates.activation`. */
  readonly status: string;
  readonly kind?: string;
  readonly notAfterSeconds?: number;
}

export interface InterfaceStatus {
  readonly name: string;
  /** A word of `transitionStates.interface`. */
  readonly state: string;
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
  /** Since when it has not got all that it asks for, with the newest reason; a skipped run only where nothing failed. */
  readonly failure?: CollectorFailure;
}

export interface CollectorFailure {
  readonly reason: FailureReason | SkipReason;
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
