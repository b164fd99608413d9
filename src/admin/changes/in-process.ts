import type { Caller } from '../policy/principal.ts';
import { Readable } from 'node:stream';
import { mediaTypeOf } from '../../appliance/answer.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import { maxValuesOf } from '../../appliance/reply-bounds.ts';
import { confirmationOf } from '../calls/confirmation.ts';
import type { Gateway } from '../calls/gateway.ts';
import { type Answers, questionOf } from '../policy/guards/guard.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { changes } from '../policy/policy.ts';
import { upstreamProblem } from '../policy/problem.ts';
import { wholeBody } from '../calls/reach.ts';
import type { AdminRequest, RecentReads } from '../calls/request.ts';
import { callOf, type CallOptions, type Calls, type Content, createCalls, type SendCall } from '../recipes/calls.ts';

/** Longer answers are of no use to a recipe; the exporter polls within the same bound. */
const maxAnswerBytes = 8_388_608;

/**
 * Creates the calls to an appliance, through the same gateway and with the same checks as a call
 * from outside. All records of its calls have the id of `caller`, that of the change;
 * `approved` is set once it may change something. `onLeaving` is called right before a change is
 * sent; `recent` serves its guards.
 */
export function createInProcessCalls(
  {
    gateway,
    operations,
  }: { readonly gateway: Pick<Gateway, 'admit' | 'send' | 'plan'>; readonly operations: Operations },
  appliance: string,
  caller: Caller & Pick<AdminRequest, 'id' | 'approved'>,
  {
    recent,
    answers = new Map(),
    onLeaving,
  }: { readonly recent?: RecentReads; readonly answers?: Answers; readonly onLeaving?: () => void },
): Calls {
  const requestOf = (
    call: OperationCall,
    content: Content | undefined,
    { reason, force = false }: CallOptions,
  ): AdminRequest => ({
    ...caller,
    appliance,
    method: call.operation.method,
    path: call.path,
    contentType: content?.type,
    contentLength: content?.bytes.length,
    body: content && Readable.from([content.bytes]),
    // The digest of the approval confirms the plan.
    confirm: confirmationOf(call, appliance)[0],
    reason,
    force,
    breakGlass: false,
    onCall: () => undefined,
    onSending: () => undefined,
  });
  const send: SendCall = async (call, content, options) => {
    const leaving = onLeaving && changes(call.operation.row.risk) && { onLeaving };
    try {
      const answer = await gateway.send(
        await gateway.admit({ ...requestOf(call, content, options), recent, ...leaving }),
      );
      const mediaType = mediaTypeOf(answer.headers['content-type'] ?? '');
      const body = await wholeBody(answer, call.path, maxAnswerBytes);
      return { status: answer.status, mediaType, requestId: caller.id, body };
    } catch (error) {
      // The body may break off, or be too long.
      throw error instanceof ApplianceError ? upstreamProblem(error, appliance, 'none') : error;
    }
  };
  const calls = createCalls(operations, appliance, send, (row) => maxValuesOf(row.maxValues, maxAnswerBytes));
  return {
    ...calls,
    async read(key, params) {
      const reply = await calls.read(key, params);
      // Read with the rights of the caller; the guards of the dry runs need not read it again.
      answers.set(questionOf(key, params), Promise.resolve(reply));
      return reply;
    },
    dryRun: async (write, options) =>
      await gateway.plan({ ...requestOf(callOf(operations, write), write.content, options), planning: answers }),
  };
}
