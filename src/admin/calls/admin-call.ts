import type { ReadCache } from '../policy/guards/guard.ts';
import type { OperationCall } from '../policy/operation.ts';
import type { Caller } from '../policy/principal.ts';
import type { RequestBody } from './request-body.ts';

/**
 * A call for an appliance, and who sends it. Only gateway.ts writes what can change in it, but for the
 * stage `sent`: forward.ts knows when the first byte leaves.
 */
export interface AdminCall extends Caller {
  /** The gateway's own id, shown to the caller and in the audit. */
  readonly id: string;
  readonly appliance: string;
  /** Marked right before it is sent, if it is a read with a side effect. */
  target: OperationCall;
  readonly body: RequestBody | undefined;
  /** X-Confirm of a caller; the calls of a change need none. */
  readonly confirm?: string | undefined;
  readonly reason: string | undefined;
  readonly force: boolean;
  /** True if the caller sends at once, in an emergency, what needs approval. */
  readonly breakGlass: boolean;
  /** The time after which a read is given up, if that is less than usual. */
  readonly limitMs?: number | undefined;
  /** Set only for a call of a change that runs. */
  readonly permit?: CallPermit | undefined;
  /**
   * How far it has come. From `recorded` on, its intent is on disk and the audit gets an outcome
   * instead of a refusal; from `sent` on, the appliance may carry it out.
   */
  stage: 'new' | 'recorded' | 'sent';
}

/** Limits the calls of a change to those of its plan. */
export interface CallPermit {
  readonly requestedBy: string;
  /** Undefined where no other person has approved it. */
  readonly approvedBy: string | undefined;
  /** False for a change that ran at once: a call of it that needs approval now is refused. */
  readonly isApproved: boolean;
  /**
   * True for the calls that take back what a change has done: whatever became of its token, or of
   * what needs approval, since it started, an appliance must not stay half changed.
   */
  readonly isRollback: boolean;
  /** Addresses of its calls; a reload may give an appliance's name to another machine. */
  readonly urls: ReadonlySet<string>;
  /** Guards whose blocking findings were seen: no others are overridden. */
  readonly guards: ReadonlySet<string>;
  /** The reads that the plan was just made from. */
  readonly reads: ReadSnapshot;
}

/** The reads of a plan, which guards need not repeat at once. */
export interface ReadSnapshot {
  readonly cache: ReadCache;
  /** `writeCountOf` of the gateway before the first read. */
  readonly writeCount: number;
  /** The time of the last read. */
  readonly atSteadyMs: number;
}
