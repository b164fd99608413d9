import type { Readable } from 'node:stream';
import type { KnownReplies, Overridden } from '../policy/guards/guard.ts';
import type { OperationCall } from '../policy/operation.ts';
import type { Caller } from '../policy/principal.ts';
import type { RequestBody, UnreadBody } from './request-body.ts';

/** The plan of the change that a call belongs to: nothing else is sent. */
export interface PinnedPlan {
  readonly requestedBy: string;
  /** Undefined where no other person has approved it. */
  readonly approvedBy: string | undefined;
  /** False for a change that ran at once: a call of it that has come to need approval is refused. */
  readonly isApproved: boolean;
  /** Addresses of its calls; a reload may give an appliance's name to another machine. */
  readonly urls: ReadonlySet<string>;
  /** Guards whose blocking findings were seen: no others are overridden. */
  readonly guards: ReadonlySet<string>;
  /** The replies that it was just made from. */
  readonly recent: RecentReads;
}

/** An authenticated request for an appliance, not parsed yet. */
export interface AdminRequest extends Caller, UnreadBody {
  /** The gateway's own id, shown to the caller and in the audit. */
  readonly id: string;
  readonly appliance: string;
  readonly method: string;
  /** Below the appliance's base URL, percent-encoded as received. */
  readonly path: string;
  readonly confirm: string | undefined;
  readonly reason: string | undefined;
  readonly force: boolean;
  /** True if the caller sends at once, in an emergency, what needs approval. */
  readonly breakGlass: boolean;
  /** The time after which a read is given up, if that is less than usual. */
  readonly limitMs?: number | undefined;
  /** Set only for a call of a change that is carried out. */
  readonly plan?: PinnedPlan;
  /**
   * Set only for the dry runs of one plan, which share what they read. A plan does not show the
   * parameters of a call, so the appliance is not asked for them.
   */
  readonly planning?: KnownReplies;
  readonly onCall: (call: OperationCall) => void;
  /**
   * Called before the request is sent: from then on the audit has an outcome instead of a refusal.
   */
  readonly onSending: (overridden: Overridden) => void;
  /** Called after the last check that may refuse the request: from then on it leaves. */
  readonly onLeaving?: () => void;
}

/** Replies of an appliance that guards need not ask for again at once. */
export interface RecentReads {
  readonly answers: KnownReplies;
  /** The value of `changesOf` of the gateway before the first of them. */
  readonly changes: number;
  /** When the last of them was read, by the steady clock. */
  readonly atMs: number;
}

/** A request whose operation is known and permitted, with its body. */
export interface PermittedCall {
  readonly request: AdminRequest;
  readonly call: OperationCall;
  readonly body: RequestBody | undefined;
}

/** The answer for the caller, from the appliance or from the gateway. */
export interface AdminAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | Buffer;
}
