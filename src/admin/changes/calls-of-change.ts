import { checkResponse, mediaTypeOf } from '../../appliance/response.ts';
import type { EndpointRow } from '../../appliance/api/row.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import { maxValuesOf } from '../../appliance/reply-bounds.ts';
import type { AdminCall, PinnedPlan } from '../calls/admin-call.ts';
import { wholeBody } from '../calls/session.ts';
import { bodyOf } from '../calls/request-body.ts';
import { AdminError } from '../policy/admin-error.ts';
import { type KnownReplies, questionOf } from '../policy/guards/guard.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { isChangeRisk } from '../policy/policy.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem, upstreamProblem } from '../policy/problem.ts';
import { applianceError, type CallResponse, type RecipeCalls, LateError, type Write } from '../recipes/calls.ts';
import type { RecipeContext } from '../recipes/recipe.ts';
import type { ChangesContext } from './context.ts';
import type { IdentifiedChange } from './task.ts';

/** A change, in whose name its calls are made, and for what. */
export interface ChangeCallsParts {
  /** All records of the calls have its id. */
  readonly wanted: IdentifiedChange;
  readonly caller: Caller;
  /** Set once it may change something. */
  readonly plan?: PinnedPlan;
  /** The replies so far: guards of dry runs need not read them again. */
  readonly replies?: KnownReplies;
}

/** The calls of a change; the steps that run see how far each has come. */
export interface ChangeCalls extends RecipeCalls {
  /** Makes a call, which is not sent yet. Throws an {@link AdminError}. */
  callFor(write: Write): AdminCall;
  /** Rejects with an {@link AdminError}. */
  send(call: AdminCall): Promise<CallResponse>;
}

/** Longer answers are of no use to a recipe; the exporter polls within the same bound. */
const maxAnswerBytes = 8_388_608;

/** Returns what the steps of a change have of the world, for as long as the caller is there. */
export function recipeContextFor(
  context: ChangesContext,
  parts: ChangeCallsParts,
): RecipeContext & { readonly calls: ChangeCalls } {
  const { wanted, caller } = parts;
  const { appliance, task, waitSeconds, askedAtMs, onWait = () => undefined } = wanted;
  return {
    calls: createCalls(context, parts),
    values: task.parameters,
    files: ('recipe' in task && task.files) || {},
    knownFarms: () => context.gateway.applianceFor({ principal: caller.principal, appliance }).knownFarms(),
    probeLimits: context.probeLimitsOf(appliance),
    vipLimits: context.vipLimitsOf(appliance),
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
  { gateway, operations }: Pick<ChangesContext, 'gateway' | 'operations'>,
  parts: ChangeCallsParts,
): ChangeCalls {
  const { wanted, caller, replies = new Map() } = parts;
  const { id, appliance } = wanted;
  const callFor = (write: Write): AdminCall => adminCall(callOf(operations, write), write, parts);

  async function send(call: AdminCall): Promise<CallResponse> {
    const { path } = call.target;
    try {
      const clearance = gateway.admit(call);
      if (clearance === 'needs_approval') throw needsApproval(call);
      const response = await gateway.send(call, clearance);
      const body = await wholeBody(response, path, maxAnswerBytes);
      const mediaType = mediaTypeOf(response.headers['content-type'] ?? '');
      const whole = { status: response.status, mediaType, requestId: id, body };
      if (whole.status >= 400) throw applianceError(whole, appliance);
      return whole;
    } catch (error) {
      if (call.limitMs !== undefined && error instanceof AdminProblem && error.code === 'upstream_timeout')
        throw new LateError(appliance);
      // The body may break off, or be too long.
      throw error instanceof ApplianceError ? upstreamProblem(error, appliance, 'none') : error;
    }
  }

  return {
    appliance,
    async read(key, params, withinMs) {
      const row: EndpointRow & { readonly reply: (typeof endpoints)[typeof key]['reply'] } = endpoints[key];
      const response = await send({ ...callFor({ key, params }), limitMs: withinMs });
      const expected = { schema: row.reply, maxValues: maxValuesOf(row.maxValues, maxAnswerBytes) };
      const checked = checkResponse({ ...response, text: response.body.toString() }, expected);
      if (!('value' in checked)) throw unusable(appliance, row.route, checked.because);
      // Read with the rights of the caller.
      replies.set(questionOf(key, params), Promise.resolve(checked.value));
      return checked.value as never;
    },
    readText: async (key, params) => (await send(callFor({ key, params }))).body.toString(),
    async write(write) {
      await send(callFor(write));
    },
    callFor,
    send,
    dryRun: async (write) => await gateway.dryRun({ ...callFor(write), planReplies: replies }),
    parametersOf: (write) => gateway.parametersOf(callOf(operations, write), { ...caller, id, appliance }),
    urlOf: (write) =>
      gateway.applianceFor({ principal: caller.principal, appliance }).relay.urlOf(callOf(operations, write).path),
  };
}

function adminCall(target: OperationCall, { content }: Write, { wanted, caller, plan }: ChangeCallsParts): AdminCall {
  const { id, appliance, reason, force, breakGlass = false } = wanted;
  const { row } = target.operation;
  return {
    ...caller,
    id,
    appliance,
    target,
    body: bodyOf(row.body, content),
    reason,
    force: force && isChangeRisk(row.risk),
    breakGlass,
    plan,
    stage: 'new',
    overridden: {},
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
  return new AdminError(`${appliance} sent an unusable response`, {
    detail: `${route}: ${because}`,
    remedy: 'Look at it with zlb-exporter admin … --json.',
  });
}

function needsApproval({ target }: AdminCall): AdminProblem {
  return new AdminProblem('cannot_wait', {
    detail: `${target.operation.key} needs approval now; nothing was sent.`,
    remedy: 'Ask for the change again: a reload has changed admin.approvals.',
  });
}
