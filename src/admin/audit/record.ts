import type { ProblemCode } from '../problem.ts';

/**
 * `intent` stands before a call leaves, `outcome` after it; the others stand alone. `started` is
 * each start of the gateway. `recovered` is the journal's own: it stands where a line was left
 * unfinished by a process that was killed, or by a loss of power.
 */
export const auditEvents = [
  'intent',
  'outcome',
  'denied',
  'dry_run',
  'discovery',
  'freeze',
  'unfreeze',
  'started',
  'recovered',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** A record of one event, without secrets: see mask.ts. */
export interface AuditRecord {
  readonly event: AuditEvent;
  /** The request's id; intent and outcome share it. */
  readonly request: string;
  readonly principal: string;
  readonly role: string;
  readonly appliance?: string;
  /** The operation's key in the table. */
  readonly operation?: string;
  readonly method: string;
  /** Below the appliance's base URL. */
  readonly path: string;
  /** The caller's X-Reason. */
  readonly reason?: string;
  /** Guards that X-Force overrode. */
  readonly forced?: readonly string[];
  /** Guards whose findings went through, as the token has `guards: warn`. */
  readonly warned?: readonly string[];
  /** The masked body. */
  readonly body?: unknown;
  /** HTTP status of the answer, of the appliance or of the gateway. */
  readonly status?: number;
  /** Why the gateway refused or failed. */
  readonly code?: ProblemCode;
  readonly duration_ms?: number;
  /** Bytes that went to the appliance and came back, and the digest of an upload. */
  readonly sent_bytes?: number;
  readonly sent_sha256?: string;
  readonly received_bytes?: number;
  /** True when the appliance may have carried out a call whose answer never came. */
  readonly uncertain?: true;
  /**
   * Alone in a `denied`: refusals of the principal before it that were too many in a minute to be
   * written down each.
   */
  readonly suppressed?: number;
  /**
   * With `recovered`: the unfinished line. Its text is cut at 4 KiB; the digest is of all its
   * bytes.
   */
  readonly torn?: { readonly bytes: number; readonly sha256: string; readonly text: string };
}

/** A record's place in the chain. */
export interface AuditPosition {
  readonly seq: number;
  /** Lower-case hex. */
  readonly hash: string;
}

/** A line of the file: the record, its place, its time, and the hash of the line before. */
export interface AuditLine extends AuditRecord, AuditPosition {
  /** ISO 8601, UTC. */
  readonly time: string;
  /** In the first line of a file that goes on from another: the name that one has been given. */
  readonly after?: string;
  readonly prev: string;
}
