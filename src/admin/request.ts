import type { Readable } from 'node:stream';
import type { Secret } from '../lib/secret.ts';
import type { Overridden } from './guards/overridden.ts';
import type { OperationCall } from './operation.ts';
import type { Principal } from './principal.ts';

/** A request for an appliance, authenticated and otherwise unread. */
export interface AdminRequest {
  /** Ours, shown to the caller and in the audit. */
  readonly id: string;
  readonly principal: Principal;
  /** What the caller proved itself with; taken out of everything that is written down. */
  readonly token: Secret;
  readonly appliance: string;
  readonly method: string;
  /** Below the appliance's base URL, percent-encoded as it came. */
  readonly path: string;
  readonly contentType: string | undefined;
  /** Bytes, where the caller says. */
  readonly contentLength: number | undefined;
  /** Undefined when the request carries none. */
  readonly body: Readable | undefined;
  readonly confirm: string | undefined;
  readonly reason: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  readonly onCall: (call: OperationCall) => void;
  /** From here on what comes of it has its outcome in the audit, and is not a refusal. */
  readonly onSending: (overridden: Overridden) => void;
}

/** What the caller gets; the appliance's own answer, or the gateway's. */
export interface AdminAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | Buffer;
}
