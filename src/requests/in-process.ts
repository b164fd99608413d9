import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { mediaTypeOf } from '../appliance/answer.ts';
import { confirmationOf } from '../gateway/confirmation.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Operations } from '../gateway/operation.ts';
import { changes } from '../gateway/policy.ts';
import type { Principal } from '../gateway/principal.ts';
import { AdminProblem } from '../gateway/problem.ts';
import type { AdminRequest } from '../gateway/request.ts';
import type { Secret } from '../lib/secret.ts';
import { AdminError } from '../recipes/admin-error.ts';
import { type Calls, createCalls } from '../recipes/calls.ts';

/** On whose behalf the exporter itself calls an appliance. */
export interface Caller {
  /** The id of the change request: all records of its calls have it. */
  readonly id: string;
  readonly principal: Principal;
  readonly token: Secret;
  readonly signal: AbortSignal;
  /** Set once it was approved: before that, only reads and dry runs go through. */
  readonly approved?: { readonly requestedBy: string };
}

/**
 * Creates the calls to an appliance, through the same gateway and with the same checks as a call
 * from outside. `onSending` is called right before a change is sent.
 */
export function createInProcessCalls(
  { gateway, operations }: { readonly gateway: Pick<Gateway, 'handle'>; readonly operations: Operations },
  appliance: string,
  caller: Caller,
  onSending: () => void = () => undefined,
): Calls {
  return createCalls(operations, appliance, async (call, content, { reason, force = false, dryRun = false }) => {
    const request: AdminRequest = {
      ...caller,
      appliance,
      method: call.operation.method,
      path: call.path,
      contentType: content?.type,
      contentLength: content?.bytes.length,
      body: content && Readable.from([content.bytes]),
      // The digest of the approval confirms the plan.
      confirm: confirmationOf(call, appliance).expected[0],
      reason,
      dryRun,
      force,
      breakGlass: false,
      onCall: () => undefined,
      onSending: changes(call.operation.row.risk) ? onSending : () => undefined,
    };
    try {
      const { status, headers, body } = await gateway.handle(request);
      const bytes = Buffer.isBuffer(body) ? body : await buffer(body);
      return { status, mediaType: mediaTypeOf(headers['content-type'] ?? ''), requestId: caller.id, body: bytes };
    } catch (error) {
      throw error instanceof AdminProblem ? toAdminError(error, caller.id) : error;
    }
  });
}

function toAdminError({ title, message, remedy, code, status }: AdminProblem, requestId: string): AdminError {
  return new AdminError(title, { detail: message, remedy, code, status, requestId });
}
