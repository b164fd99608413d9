import type { Overridden } from '../admin/guards/overridden.ts';
import type { OperationCall } from '../admin/operation.ts';
import type { Principal } from '../admin/principal.ts';
import type { Secret } from '../lib/secret.ts';

/**
 * Collects what the steps of an admin request find out, for its answer, the audit, the log and the
 * metrics.
 */
export interface RequestContext {
  readonly id: string;
  /** True for a path of the appliance's own API. */
  readonly compatible: boolean;
  readonly signal: AbortSignal;
  /** When the request came, by `performance.now()`. */
  readonly startedAtMs: number;
  principal?: Principal;
  token?: Secret;
  /** Set only if it is configured and the caller may know of it. */
  appliance?: string;
  call?: OperationCall;
  /** True once the request was sent to the appliance. */
  sent?: boolean;
  /** The guards that it overrode; set when it is sent. */
  overridden?: Overridden;
  reason?: string;
}
