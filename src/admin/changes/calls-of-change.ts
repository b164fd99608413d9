import { Readable } from 'node:stream';
import { checkAnswer, mediaTypeOf } from '../../appliance/answer.ts';
import type { EndpointRow } from '../../appliance/api/row.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import { maxValuesOf } from '../../appliance/reply-bounds.ts';
import { confirmationOf } from '../calls/confirmation.ts';
import { wholeBody } from '../calls/reach.ts';
import type { AdminRequest, PinnedPlan } from '../calls/request.ts';
import { AdminError } from '../policy/admin-error.ts';
import { type KnownReplies, questionOf } from '../policy/guards/guard.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { changes } from '../policy/policy.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem, upstreamProblem } from '../policy/problem.ts';
import { applianceError, type CallAnswer, type RecipeCalls, LateError, type Write } from '../recipes/calls.ts';
import type { RecipeContext } from '../recipes/recipe.ts';
import type { ChangesContext } from './context.ts';
import type { IdentifiedChange } from './task.ts';

/** A change, in whose name its calls are made, and for what. */
export interface ChangeCallsParts {
  /** All records of the calls have its id. */
  readonly asked: IdentifiedChange;
  readonly caller: Caller;
  /** Set once it may change something. */
  readonly plan?: PinnedPlan;
  /** The replies so far: guards of dry runs need not read them again. */
  readonly answers?: KnownReplies;
  /** Called right before a call that changes something is sent. */
  readonly onLeaving?: () => void;
}

/** Longer answers are of no use to a recipe; the exporter polls within the same bound. */
const maxAnswerBytes = 8_388_608;

/** Returns what the steps of a change have of the world, for as long as the caller is there. */
export function recipeContextFor(
  context: ChangesContext,
  parts: ChangeCallsParts,
): RecipeContext & { readonly calls: RecipeCalls } {
  const { asked, caller } = parts;
  const { appliance, task, waitSeconds, askedAtMs, onWait = () => undefined } = asked;
  return {
    calls: createCalls(context, parts),
    values: task.parameters,
    files: ('recipe' in task && task.files) || {},
    knownFarms: () => context.gateway.applianceFor({ principal: caller.principal, appliance }).knownFarms(),
    reach: context.reachOf(appliance),
    limits: context.limitsOf(appliance),
    waitMs: waitSeconds === undefined ? undefined : waitSeconds * 1_000,
    now: context.now,
    steadyNow: context.steadyNow,
    askedAtMs,
    signal: caller.signal,
    sleep: (ms) => context.sleep(ms, caller.signal),
    progress: onWait,
  };
}

/** Creates the calls of a change, through the same gateway as a call from outside. */
function createCalls(
  { gateway, operations, decode }: Pick<ChangesContext, 'gateway' | 'operations' | 'decode'>,
  parts: ChangeCallsParts,
): RecipeCalls {
  const { asked, caller, answers = new Map() } = parts;
  const { id, appliance } = asked;
  const requestOf = (write: Write): AdminRequest => requestFor(callOf(operations, write), write, parts);

  async function send(write: Write, limitMs?: number): Promise<CallAnswer> {
    const request = { ...requestOf(write), limitMs };
    try {
      const admitted = await gateway.admit(request);
      if (admitted.approval === 'waits') throw needsApproval(write);
      const answer = await gateway.send(admitted);
      const body = await wholeBody(answer, request.path, maxAnswerBytes);
      const mediaType = mediaTypeOf(answer.headers['content-type'] ?? '');
      const whole = { status: answer.status, mediaType, requestId: id, body };
      if (whole.status >= 400) throw applianceError(whole, appliance);
      return whole;
    } catch (error) {
      if (limitMs !== undefined && error instanceof AdminProblem && error.code === 'upstream_timeout')
        throw new LateError(appliance);
      // The body may break off, or be too long.
      throw error instanceof ApplianceError ? upstreamProblem(error, appliance, 'none') : error;
    }
  }

  return {
    appliance,
    async read(key, params, withinMs) {
      const row: EndpointRow & { readonly reply: (typeof endpoints)[typeof key]['reply'] } = endpoints[key];
      const answer = await send({ key, params }, withinMs);
      const expected = { schema: row.reply, maxValues: maxValuesOf(row.maxValues, maxAnswerBytes) };
      const checked = checkAnswer({ ...answer, text: answer.body.toString() }, expected, decode);
      if (!('value' in checked)) throw unusable(appliance, row.route, checked.because);
      // Read with the rights of the caller.
      answers.set(questionOf(key, params), Promise.resolve(checked.value));
      return checked.value as never;
    },
    readText: async (key, params) => (await send({ key, params })).body.toString(),
    async write(write) {
      await send(write);
    },
    dryRun: async (write) => await gateway.dryRun({ ...requestOf(write), planning: answers }),
    parametersOf: (write) => gateway.parametersOf(callOf(operations, write), { ...caller, id, appliance }),
    urlOf: (write) =>
      gateway.applianceFor({ principal: caller.principal, appliance }).relay.urlOf(callOf(operations, write).path),
  };
}

/** Returns the request of a call, as the gateway takes it. */
function requestFor(
  call: OperationCall,
  { content }: Write,
  { asked, caller, plan, onLeaving }: ChangeCallsParts,
): AdminRequest {
  const { id, appliance, reason, force, breakGlass = false } = asked;
  const isWrite = changes(call.operation.row.risk);
  return {
    ...caller,
    ...(plan && { plan }),
    id,
    appliance,
    method: call.operation.method,
    path: call.path,
    contentType: content?.type,
    contentLength: content?.bytes.length,
    body: content && Readable.from([content.bytes]),
    // The plan that was looked at confirms it.
    confirm: confirmationOf(call, appliance)[0],
    reason,
    force: isWrite && force,
    breakGlass,
    ...(isWrite && onLeaving && { onLeaving }),
    onCall: () => undefined,
    onSending: () => undefined,
  };
}

/** Returns the call of a write; throws an {@link AdminError} for a name that no path can carry. */
function callOf(operations: Operations, { key, params }: Pick<Write, 'key' | 'params'>): OperationCall {
  const operation = operations.named(key);
  const call = operation && operations.call(operation, params);
  if (call) return call;
  throw new AdminError('A name cannot be part of a path', {
    detail: `${endpoints[key].route} was not asked for.`,
    remedy: 'Check the names given: no slashes, and nothing empty.',
  });
}

function unusable(appliance: string, route: string, because: string): AdminError {
  return new AdminError(`${appliance} gave an unusable answer`, {
    detail: `${route}: ${because}`,
    remedy: 'Look at it with zlb-exporter admin … --json.',
  });
}

function needsApproval({ key }: Write): AdminProblem {
  return new AdminProblem('cannot_wait', {
    detail: `${key} has come to need approval; nothing was sent.`,
    remedy: 'Ask for the change again: a reload has changed admin.approvals.',
  });
}
