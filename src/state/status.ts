import type { BreakerState } from '../appliance/breaker.ts';
import type { CertificateLife } from '../appliance/connection.ts';
import type { UnreadableField } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { Activation } from '../collectors/activation.ts';
import type { Backend } from '../collectors/backends.ts';
import type { Certificate } from '../collectors/certificates.ts';
import type { TransitionObject } from '../collectors/collector.ts';
import type { FarmConnections } from '../collectors/farm-connections.ts';
import type { ListedFarm } from '../collectors/ask-farms.ts';
import type { Interface } from '../collectors/interfaces.ts';
import type { ProbedFarm } from '../collectors/vip.ts';

/** Reasons for which a collector did not run when its schedule said so. */
export const skipReasons = ['breaker_open', 'unlicensed', 'unsupported', 'stretched', 'farms_unknown'] as const;

export type SkipReason = (typeof skipReasons)[number];

/**
 * Content of `/` and `/api/status`, without stale readings and with all series that the limit
 * leaves out of `/metrics`. Times are Unix milliseconds, or seconds if the name says so; readers
 * compute ages.
 */
export interface FleetStatus {
  readonly appliances: readonly ApplianceStatus[];
  /**
   * Newest first, at most 200 of all appliances together; a reload keeps them, a restart does not.
   */
  readonly transitions: readonly Transition[];
}

export interface ApplianceStatus {
  readonly name: string;
  /** The origin of its API, which its web interface has too; without a path. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The value of `zlb_up`; undefined before the first answer. */
  readonly up: boolean | undefined;
  /** The value of `zlb_appliance_failure_info`; undefined when the newest call succeeded. */
  readonly failing?: FailingCalls | undefined;
  /** True after a 402, until a call behind the activation check succeeds. */
  readonly deactivated: boolean;
  /** The product's name, as in `zlb_appliance_info`; undefined if the appliance does not report it. */
  readonly product: string | undefined;
  readonly version: string | undefined;
  readonly edition: string | undefined;
  readonly hostname: string | undefined;
  readonly breaker: BreakerState;
  /** The certificate of the API, as the last connection showed it; absent before one. */
  readonly apiCertificate?: CertificateLife | undefined;
  /**
   * Undefined where never read, or stale, as all lists here. An empty list was read and is empty.
   */
  readonly farms: readonly FarmStatus[] | undefined;
  /**
   * How many farms were probed as clients would, how many accepted the connection, the names of
   * those that accepted it and did not answer, and when the oldest of these probes was made.
   */
  readonly probes?:
    | {
        readonly farms: number;
        readonly reached: number;
        readonly unanswered?: readonly string[];
        readonly oldestMs: number;
      }
    | undefined;
  readonly certificates: readonly CertificateStatus[] | undefined;
  readonly activation: ActivationStatus | undefined;
  readonly interfaces: readonly InterfaceStatus[] | undefined;
  readonly series: number;
  /** Series above the limit, which `/metrics` leaves out. */
  readonly seriesLeftOut: number;
  /** Farms with an objective; absent where the appliance sends no log of requests. */
  readonly objectives?: readonly string[] | undefined;
  /** Those of them with an objective of latency; absent where none has one. */
  readonly latencyObjectives?: readonly string[] | undefined;
  /** True while no request of its farms was counted for the first hour of its log. */
  readonly isLogSilent?: boolean | undefined;
  /** Data of collectors that nothing above presents, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
  readonly collectors: readonly CollectorStatus[];
}

export interface FarmObjective {
  readonly farm: string;
  readonly hasLatency: boolean;
}

/** A farm of the list; its state is a word of `transitionStates.farm`. */
export interface FarmStatus extends ListedFarm, Dated, Partial<Omit<FarmConnections, 'farm'>> {
  /** When it is asked again; only of a silent farm of which no call has ended. */
  readonly nextLookMs?: number | undefined;
  /** True if it was silent then, and a later handshake was answered: `isSilent` is false. */
  readonly answersClients?: boolean | undefined;
  /** False when one of its services has none; absent if the appliance does not report it. */
  readonly hasHealthCheck?: boolean | undefined;
  /** Whether its proxy logs each request; absent if the appliance does not report it. */
  readonly logs?: boolean | undefined;
  /** When its configuration was read, also that of its proxy and certificates; absent where not. */
  readonly configuredAtMs?: number | undefined;
  /**
   * Undefined where never read, stale, or not known because the farm is stopped. An empty list was
   * read and is empty.
   */
  readonly backends: readonly BackendStatus[] | undefined;
  /** Absent where the farm was not probed since it changed. */
  readonly probe?: ProbeStatus | undefined;
  /** Only where `backends` is undefined and the configuration of the farm was read. */
  readonly configuredBackends?: readonly BackendName[] | undefined;
  /** Data of collectors that nothing above presents, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
}

/** A farm as its clients meet it; see the collector `vip`. */
export interface ProbeStatus
  extends Pick<ProbedFarm, 'isReachable' | 'connectSeconds' | 'failure' | 'served' | 'address'> {
  readonly atMs: number;
}

/** The requests of a farm in the last minute, as its proxy logged them. */
export interface LastMinute {
  readonly perSecond: number;
  /** How many were answered with a status of 500 or more, without a fault of the client. */
  readonly failed: number;
  /** The bound of the histogram within which 95 of 100 are; undefined if none was timed. */
  readonly p95Seconds: number | undefined;
}

export type LastMinuteOf = (appliance: string, farm: string) => LastMinute | undefined;

export type BackendName = Pick<Backend, 'service' | 'backend'>;

/** A backend; its state is a word of `transitionStates.backend`. */
export type BackendStatus = Pick<Backend, 'service' | 'backend' | 'state' | 'established'> & Dated;

/** An interface; its state is a word of `transitionStates.interface`. */
export type InterfaceStatus = Pick<Interface, 'name' | 'state'> & Dated;

export interface Dated {
  /** When it was seen to change to its state; absent where it was so when first seen. */
  readonly sinceMs?: number | undefined;
}

/** A file of the store; its state is a word of `transitionStates.certificate`. */
export interface CertificateStatus extends Certificate {
  /**
   * Farms that are known to present it; undefined while none is, and some farm was not read.
   */
  readonly usedBy: readonly string[] | undefined;
  /** When the oldest configuration of a farm was read that says so; absent without any. */
  readonly usersReadMs?: number | undefined;
  /** Only where `usedBy` is undefined, and farms were known to present it. */
  readonly lastKnownUse?: LastKnownUse | undefined;
  /** Farms that were seen to serve it; absent without any. */
  readonly servedBy?: readonly string[] | undefined;
  /** Farms that present it and serve another one; absent without any. */
  readonly notServedBy?: readonly string[] | undefined;
}

/** Farms that presented a certificate when their configuration was last read, which is too old. */
export interface LastKnownUse {
  readonly farms: readonly string[];
  /** When the oldest of these configurations was read. */
  readonly readMs: number;
}

export interface ActivationStatus extends Partial<Pick<Activation, 'kind' | 'notBeforeSeconds' | 'notAfterSeconds'>> {
  /** A word of `transitionStates.activation`. */
  readonly status: string;
}

export interface CollectorStatus {
  readonly name: string;
  /** The result of the last run; undefined before the first one. */
  readonly ok: boolean | undefined;
  readonly lastSuccessMs: number | undefined;
  /** The interval in effect, with the delay of late runs. */
  readonly intervalMs: number;
  /**
   * True when something that it read is stale; of a collector that asks farm by farm, of one farm
   * at least.
   */
  readonly isStale: boolean;
  /** False where the appliance lacks what it reads. */
  readonly isSupported: boolean;
  /** Absent while it gets all that it asks for. */
  readonly failure?: CollectorFailure | undefined;
  /** Fields of its newest replies with values that could not be read; absent without any. */
  readonly unreadable?: readonly UnreadableField[] | undefined;
}

/** Calls to an appliance of which the newest failed, probes included. */
export interface FailingCalls {
  readonly reason: FailureReason;
  /** When the first call failed after the last one that succeeded. */
  readonly sinceMs: number;
}

export interface CollectorFailure {
  /** The reason of the newest failure; the reason for a skip only if nothing failed before it. */
  readonly reason: FailureReason | SkipReason;
  /** When the trouble began. */
  readonly sinceMs: number;
}

/** A change of state. */
export interface Transition {
  readonly appliance: string;
  /** When it was seen, at a poll. */
  readonly atMs: number;
  readonly object: TransitionObject;
  /** Identifies the object within its appliance. */
  readonly labels: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
}

/** A farm of the status, also as `/api/status` has it. */
interface HungFarm {
  readonly isSilent?: boolean | null | undefined;
  readonly state: string;
}

/** Returns true for a proxy that does not answer its appliance; that of a stopped farm cannot. */
export function isHung({ isSilent, state }: HungFarm): boolean {
  return isSilent === true && state !== 'down';
}
