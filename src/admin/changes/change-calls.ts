import { checkResponse, mediaTypeOf } from '../../appliance/response.ts';
import type { EndpointRow } from '../../appliance/api/row.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import { maxValuesOf } from '../../appliance/reply-bounds.ts';
import type { AdminCall, CallPermit } from '../calls/admin-call.ts';
import { readResponseBody } from '../calls/session.ts';
import { bodyOf } from '../calls/request-body.ts';
import { AdminError } from '../policy/admin-error.ts';
import { type ReadCache, cacheKey } from '../policy/guards/guard.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { isWriteRisk } from '../policy/policy.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem, upstreamProblem } from '../policy/problem.ts';
import { applianceError, type CallResponse, type RecipeCalls, LateError, type Write } from '../recipes/calls.ts';
import type { RecipeContext } from '../recipes/recipe.ts';
import type { ChangesContext } from './context.ts';
import type { ChangeInput } from './task.ts';

export interface ChangeCallsParts {
  /** All records of the calls have its id. */
  readonly input: ChangeInput;
  /** In whose name the calls are made. */
  readonly caller: Caller;
  /** Set once the calls may change something. */
  readonly permit?: CallPermit;
  /** The replies so far: guards of dry runs need not read them again. */
  readonly cache?: ReadCache;
}

/** The calls of a change; the steps that run see how far each has come. */
export interface ChangeCalls extends RecipeCalls {
  /** Builds a call, which is not sent yet. Throws an {@link AdminError}. */
  buildCall(write: Write): AdminCall;
  /** Rejects with an {@link AdminError}. */
  send(call: AdminCall): Promise<CallResponse>;
}

/** Longer answers are of no use to a recipe; the exporter polls within the same bound. */
const maxAnswerBytes = 8_388_608;

/** Creates what a recipe and its steps may use, for as long as the caller is there. */
export function createRecipeContext(
  context: ChangesContext,
  parts: ChangeCallsParts,
): RecipeContext & { readonly calls: ChangeCalls } {
  const { input, caller } = parts;
  const { appliance, task, waitSeconds, askedAtMs, onWait = () => undefined } = input;
  return {
    calls: createCalls(context, parts),
    params: task.params,
    files: ('recipe' in task && task.files) || {},
    knownFarms: () => context.gateway.applianceFor({ principal: caller.principal, appliance }).knownFarms(),
    vipLimits: context.vipLimitsOf(appliance),
    probesAllFarms: context.probesAllFarms(appliance),
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
  const { input, caller, cache = new Map() } = parts;
  const { id, appliance } = input;
  const buildCall = (write: Write): AdminCall => buildAdminCall(operationCall(operations, write), write, parts);

  async function send(call: AdminCall): Promise<CallResponse> {
    const { path } = call.target;
    try {
      const response = await gateway.send(call);
      if (response === 'needs_approval') throw approvalNeeded(call);
      const body = await readResponseBody(response, path, maxAnswerBytes);
      const mediaType = mediaTypeOf(response.headers['content-type'] ?? '');
      const whole = { status: response.status, mediaType, requestId: id, body };
      if (whole.status >= 400) throw applianceError(whole, appliance);
      return whole;
    } catch (error) {
      if (call.limitMs !== undefined && error instanceof AdminProblem && error.code === 'upstream_timeout')
        throw new LateError(appliance);
      // The body may break off, or be too long.
      throw error instanceof ApplianceError ? upstreamProblem(error, appliance, 'read') : error;
    }
  }

  return {
    appliance,
    async read(operationId, params, withinMs) {
      const row: EndpointRow & { readonly reply: (typeof endpoints)[typeof operationId]['reply'] } =
        endpoints[operationId];
      const response = await send({ ...buildCall({ operationId, params }), limitMs: withinMs });
      const expected = { schema: row.reply, maxValues: maxValuesOf(row.maxValues, maxAnswerBytes) };
      const checked = checkResponse({ ...response, text: response.body.toString() }, expected);
      if (!('value' in checked)) throw unusable(appliance, row.route, checked.because);
      // Read with the rights of the caller.
      cache.set(cacheKey(operationId, params), Promise.resolve(checked.value));
      return checked.value as never;
    },
    readText: async (operationId, params) => (await send(buildCall({ operationId, params }))).body.toString(),
    async write(write) {
      await send(buildCall(write));
    },
    buildCall,
    send,
    dryRun: async (write) => await gateway.dryRun(buildCall(write), { purpose: 'plan', cache }),
    parametersOf: (write) => gateway.parametersOf(operationCall(operations, write), { ...caller, id, appliance }),
    urlOf: (write) =>
      gateway
        .applianceFor({ principal: caller.principal, appliance })
        .relay.urlOf(operationCall(operations, write).path),
  };
}

function buildAdminCall(
  target: OperationCall,
  { content }: Write,
  { input, caller, permit }: ChangeCallsParts,
): AdminCall {
  const { id, appliance, reason, force, breakGlass = false } = input;
  const { row } = target.operation;
  return {
    ...caller,
    id,
    appliance,
    target,
    body: bodyOf(row.body, content),
    reason,
    force: force && isWriteRisk(row.risk),
    breakGlass,
    permit,
    stage: 'new',
  };
}

/** Throws an {@link AdminError} for a name that no path can carry. */
function operationCall(
  operations: Operations,
  { operationId, params }: Pick<Write, 'operationId' | 'params'>,
): OperationCall {
  const call = operations.toCall(operationId, params);
  if (call) return call;
  throw new AdminError('A name cannot be part of a path', {
    detail: `${endpoints[operationId].route} was not asked for.`,
    remedy: 'Check the names given: no slashes, and nothing empty.',
  });
}

function unusable(appliance: string, route: string, because: string): AdminError {
  return new AdminError(`${appliance} sent an unusable response`, {
    detail: `${route}: ${because}`,
    remedy: 'Look at it with zlb-exporter admin … --json.',
  });
}

function approvalNeeded({ target }: AdminCall): AdminProblem {
  return new AdminProblem('cannot_wait', {
    detail: `${target.operation.operationId} needs approval now; nothing was sent.`,
    remedy: 'Ask for the change again: a reload has changed admin.approvals.',
  });
}
