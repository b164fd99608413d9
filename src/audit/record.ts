/**
 * `intent` is written before a call is sent, `outcome` after it; the others are single records. A
 * `change_request` is written at each step of one; its calls have its id as their `request`.
 * `started` marks each start of the gateway. `recovered` replaces a line that a killed process or a
 * loss of power left unfinished.
 */
export const auditEvents = [
  'intent',
  'outcome',
  'denied',
  'dry_run',
  'discovery',
  'freeze',
  'unfreeze',
  'change_request',
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
  /** The state that a change request has got. */
  readonly state?: string;
  /** SHA-256 of the plan that was asked for or approved. */
  readonly plan_sha256?: string;
  /** The principal that asked for a call that another one approved. */
  readonly requested_by?: string;
  /** True for a call that needs approval and was sent without it, in an emergency. */
  readonly break_glass?: true;
  /** The masked body. */
  readonly body?: unknown;
  /** HTTP status of the answer, of the appliance or of the gateway. */
  readonly status?: number;
  /** The code of the reason for which the gateway refused or failed. */
  readonly code?: string;
  readonly duration_ms?: number;
  /** Bytes that went to the appliance and came back, and the digest of an upload. */
  readonly sent_bytes?: number;
  readonly sent_sha256?: string;
  readonly received_bytes?: number;
  /** True when the appliance may have carried out a call whose answer never came. */
  readonly uncertain?: true;
  /**
   * The number of earlier refusals of the principal that got no line of their own; only in a
   * `denied`.
   */
  readonly suppressed?: number;
  /**
   * The unfinished line, only in `recovered`. Its text is cut at 4 KiB; the digest is of all its
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
  /** The new name of the previous file, in the first line of a file that continues another one. */
  readonly after?: string;
  readonly prev: string;
}

/**
 * The reason for which a record is not on disk: the disk is full, another process writes the file,
 * it cannot be written, its chain is broken, or the journal has been closed.
 */
export type AuditFailure = 'full' | 'locked' | 'unwritable' | 'broken' | 'closed';

/**
 * Reports that a record is not on disk, so that its call must not be sent. The message is one line
 * with the remedy; it names a local file.
 */
export class AuditError extends Error {
  override readonly name = 'AuditError';
  readonly reason: AuditFailure;

  constructor(reason: AuditFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
