import type { StatefulKind } from '../lib/states.ts';
import type { BreakerState } from '../appliance/breaker.ts';
import type { Validity } from '../appliance/connection.ts';
import type { UnreadableField } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { Activation } from '../collectors/activation.ts';
import type { Backend } from '../collectors/backends.ts';
import type { Certificate } from '../collectors/certificates.ts';
import type { FarmConnections } from '../collectors/farm-connections.ts';
import type { KnownFarm } from '../appliance/farm.ts';
import type { Interface } from '../collectors/interfaces.ts';
import type { ProbedFarm } from '../collectors/vip.ts';

/** Reasons for which a collector did not run when its schedule said so. */
export const skipReasons = ['breaker_open', 'unlicensed', 'unsupported', 'stretched', 'farms_unknown'] as const;

export type SkipReason = (typeof skipReasons)[number];

/**
 * The content of `/` and `/api/status`, without stale readings. Times are Unix milliseconds, or
 * seconds if the name says so.
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
  /** The origin of its API and of its web interface. */
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
  readonly apiCertificate?: Validity | undefined;
  /** Undefined if never read or stale, as all lists here; an empty list was read as empty. */
  readonly farms: readonly FarmStatus[] | undefined;
  /**
   * The number of probed farms and of those that were reached, the names of those that accepted a
   * connection and did not answer, and the time of the oldest of these probes.
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
  /** Farms with an objective; absent if the appliance does not send its log of requests. */
  readonly objectives?: readonly string[] | undefined;
  /** Farms with a latency objective; absent if there are none. */
  readonly latencyObjectives?: readonly string[] | undefined;
  /** True if no request was counted in the first hour of its log. */
  readonly isRequestLogEmpty?: boolean | undefined;
  /** Data of collectors without a field above, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
  readonly collectors: readonly CollectorStatus[];
}

export interface FarmObjective {
  readonly farm: string;
  readonly hasLatency: boolean;
}

/** A farm of the list; its state is a word of `statesOf.farm`. */
export interface FarmStatus extends KnownFarm, Dated, Partial<Omit<FarmConnections, 'farm'>> {
  /** When it is asked again; only for a silent farm without any ended call. */
  readonly nextLookMs?: number | undefined;
  /** True if it was silent, and a later handshake was answered; then `isSilent` is false. */
  readonly answersClients?: boolean | undefined;
  /** False if one of its services has none; absent if the appliance does not report it. */
  readonly hasHealthCheck?: boolean | undefined;
  /** Whether its proxy logs each request; absent if the appliance does not report it. */
  readonly logs?: boolean | undefined;
  /** When its configuration was read, including proxy and certificates; absent if it was not. */
  readonly configuredAtMs?: number | undefined;
  /** Also undefined if unknown because the farm is stopped. */
  readonly backends: readonly BackendStatus[] | undefined;
  /** Absent if the farm was not probed since it changed. */
  readonly probe?: ProbeStatus | undefined;
  /** Only if `backends` is undefined and the configuration of the farm was read. */
  readonly configuredBackends?: readonly BackendName[] | undefined;
  /** Data of collectors without a field above, by name. */
  readonly readings?: Readonly<Record<string, unknown>> | undefined;
}

/** The result of a probe of a farm by the collector `vip`. */
export interface ProbeStatus
  extends Pick<ProbedFarm, 'isReachable' | 'connectSeconds' | 'failure' | 'served' | 'address'> {
  readonly atMs: number;
}

/** The requests of a farm in the last minute, as its proxy logged them. */
export interface LastMinute {
  readonly perSecond: number;
  /** Responses with a status of 500 or more that the client did not cause. */
  readonly failed: number;
  /** The bound of the histogram for 95 % of them; undefined if none had a duration. */
  readonly p95Seconds: number | undefined;
}

export type LastMinuteOf = (appliance: string, farm: string) => LastMinute | undefined;

export type BackendName = Pick<Backend, 'service' | 'backend'>;

/** A backend; its state is a word of `statesOf.backend`. */
export type BackendStatus = Pick<Backend, 'service' | 'backend' | 'state' | 'established'> & Dated;

/** An interface; its state is a word of `statesOf.interface`. */
export type InterfaceStatus = Pick<Interface, 'name' | 'state'> & Dated;

export interface Dated {
  /** When it was seen to change to its state; absent if it had the state when first seen. */
  readonly sinceMs?: number | undefined;
}

/** A file of the store; its state is a word of `statesOf.certificate`. */
export interface CertificateStatus extends Certificate {
  /** Farms that are known to use it; undefined if none is, and not all farms were read. */
  readonly usedBy: readonly string[] | undefined;
  /** When the oldest configuration of a farm was read; absent without any. */
  readonly usersReadMs?: number | undefined;
  /** Only if `usedBy` is undefined, and farms were known to use it. */
  readonly lastKnownUse?: LastKnownUse | undefined;
  /** Farms that were seen to serve it; absent without any. */
  readonly servedBy?: readonly string[] | undefined;
  /** Farms that use it, but serve another one; absent without any. */
  readonly notServedBy?: readonly string[] | undefined;
}

/** Farms that used a certificate when their configuration was last read, too long ago. */
export interface LastKnownUse {
  readonly farms: readonly string[];
  /** When the oldest of these configurations was read. */
  readonly readMs: number;
}

export interface ActivationStatus extends Partial<Pick<Activation, 'kind' | 'notBeforeSeconds' | 'notAfterSeconds'>> {
  /** A word of `statesOf.activation`. */
  readonly status: string;
}

export interface CollectorStatus {
  readonly name: string;
  /** The result of the last run; undefined before the first one. */
  readonly ok: boolean | undefined;
  readonly lastSuccessMs: number | undefined;
  /** The interval in effect, with the delay of late runs. */
  readonly intervalMs: number;
  /** True if any of its readings is stale. */
  readonly isStale: boolean;
  /** False where the appliance lacks what it reads. */
  readonly isSupported: boolean;
  /** Absent if nothing failed. */
  readonly failure?: CollectorFailure | undefined;
  /** Fields of its newest replies with values that could not be read; absent without any. */
  readonly unreadable?: readonly UnreadableField[] | undefined;
}

/** A series of failed calls to an appliance, including the calls of the circuit breaker. */
export interface FailingCalls {
  readonly reason: FailureReason;
  /** When the first of them failed. */
  readonly sinceMs: number;
}

export interface CollectorFailure {
  /** The reason of the newest failure, or that of a skip if nothing failed. */
  readonly reason: FailureReason | SkipReason;
  /** When the trouble began. */
  readonly sinceMs: number;
}

/** A change of state. */
export interface Transition {
  readonly appliance: string;
  /** When it was seen, at a poll. */
  readonly atMs: number;
  readonly object: StatefulKind;
  /** Identifies the object within its appliance. */
  readonly labels: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
}

/** A farm of the status, also as `/api/status` has it. */
interface MaybeSilentFarm {
  readonly isSilent?: boolean | null | undefined;
  readonly state: string;
}

/** Returns true for a silent farm that is not stopped: the proxy of a stopped one cannot answer. */
export function isSilentFarm({ isSilent, state }: MaybeSilentFarm): boolean {
  return isSilent === true && state !== 'down';
}
