import type { Overridden } from '../admin/guards/overridden.ts';
import type { OperationCall } from '../admin/operation.ts';
import type { Principal } from '../admin/principal.ts';
import type { Secret } from '../lib/secret.ts';

/** What becomes known of an admin request on its way, for its answer, the audit, the log and the metrics. */
export interface RequestContext {
  readonly id: string;
  /** Came by a path of the appliance's own API. */
  readonly compatible: boolean;
  readonly signal: AbortSignal;
  /** When it came, by `performance.now()`. */
  readonly startedAtMs: number;
  principal?: Principal;
  token?: Secret;
  /** Only once it is known to be configured, and the caller's to know. */
  appliance?: string;
  call?: OperationCall;
  /** True once it is beyond being refused. */
  sent?: boolean;
  /** Guards that it overrode, once it is sent. */
  overridden?: Overridden;
  reason?: string;
}
