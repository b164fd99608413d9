import type { ApplianceClient } from '../appliance/client.ts';
import type { Area } from '../appliance/endpoints/table.ts';
import type { Relay } from '../appliance/relay.ts';
import { planCall } from './dry-run.ts';
import { forward } from './forward.ts';
import type { FreezeSwitch } from './freeze.ts';
import { inspectCall } from './guards/inspect.ts';
import type { Overridden } from './guards/overridden.ts';
import type { OperationCall, Operations } from './operation.ts';
import { may, riskOf } from './policy.ts';
import type { Principal } from './principal.ts';
import { AdminProblem } from './problem.ts';
import { createReach, type Reach } from './reach.ts';
import type { Recorder, Subject } from './recorder.ts';
import {
  callerLeft,
  changes,
  refuseExpired,
  refuseFindings,
  refuseUnlessConfirmed,
  refuseUnlessPermitted,
  refuseWhileFrozen,
  tokenWithdrawn,
} from './refusals.ts';
import type { AdminAnswer, AdminRequest } from './request.ts';
import { type BodyLimits, readRequestBody, type RequestBody } from './request-body.ts';
import type { QueueSlot, RequestQueue, QueueRequest } from './request-queue.ts';

/** The connections of the gateway to one appliance, with the key for changes. */
export interface AdminAppliance {
  readonly name: string;
  readonly relay: Relay;
  readonly client: ApplianceClient;
}

/** A slot of the queue that a request holds, with the connections for its calls. */
interface HeldSlot {
  readonly appliance: AdminAppliance;
  readonly slot: QueueSlot;
  readonly reach: Reach;
}

export interface GatewayParts {
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly operations: Operations;
  readonly queue: RequestQueue;
  readonly recorder: Recorder;
  readonly now: () => number;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** See {@link Principals.isInForce}. */
  readonly isInForce: (principal: Principal) => boolean;
  readonly bodyLimits: BodyLimits;
  /** Maximum time until an appliance begins its answer. */
  readonly timeoutMs: number;
  /** Called after each call that may have changed something, whatever its outcome. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

/**
 * Sends calls to appliances after policy, freeze, confirmation, guards and audit, in this order.
 */
export interface Gateway {
  /**
   * Resolves to the appliance's answer, or to the plan of a dry run; rejects with an
   * {@link AdminProblem}.
   */
  handle(request: AdminRequest): Promise<AdminAnswer>;
  /**
   * Returns the appliance of a name if the principal may know of it. Throws an
   * {@link AdminProblem}.
   */
  applianceFor(request: ApplianceRequest): AdminAppliance;
}

type ApplianceRequest = Pick<AdminRequest, 'principal' | 'appliance'>;

/** A request whose operation is known and permitted, with its body. */
interface PermittedCall {
  readonly request: AdminRequest;
  readonly call: OperationCall;
  readonly body: RequestBody | undefined;
}

export function createGateway(parts: GatewayParts): Gateway {
  return {
    applianceFor: (request) => applianceFor(parts, request),
    async handle(request) {
      // First: an unknown or denied appliance must not be parsed any further.
      applianceFor(parts, request);
      const call = parts.operations.find(request.method, request.path);
      request.onCall(call);
      refuseUnlessPermitted(request.principal, call);
      const body = await readRequestBody(call.operation.row.body, request, parts.bodyLimits);
      const permitted = { request, call, body };
      return request.dryRun ? await planInQueue(parts, permitted) : await carryOut(parts, permitted);
    },
  };
}

function applianceFor({ appliances }: GatewayParts, { principal, appliance: name }: ApplianceRequest): AdminAppliance {
  // Checked before the lookup: a caller without access must not learn whether the name exists.
  if (!principal.covers(name)) {
    throw new AdminProblem('appliance_denied', {
      detail: `The token of ${principal.name} does not cover an appliance of this name; nothing was sent.`,
      remedy: 'GET /appliances lists those that it covers; admin.tokens in the configuration says which they are.',
    });
  }
  const appliance = appliances.get(name);
  if (appliance) return appliance;
  throw new AdminProblem('unknown_appliance', {
    detail: 'No appliance of this name is configured.',
    remedy: 'GET /appliances lists the names.',
  });
}

/**
 * Runs the work in a slot of the queue. Looks the appliance up again after the wait: a reload may
 * have replaced it.
 */
async function inQueue(
  parts: GatewayParts,
  { request, ...queued }: { readonly request: AdminRequest } & Pick<QueueRequest, 'kind' | 'signal' | 'urgent'>,
  work: (held: HeldSlot) => Promise<AdminAnswer>,
): Promise<AdminAnswer> {
  const { queue, timeoutMs } = parts;
  const { appliance, principal } = request;
  return await queue.run({ ...queued, appliance, principal: principal.name }, async (slot) => {
    const current = applianceFor(parts, request);
    return await work({ appliance: current, slot, reach: createReach({ ...current, slot, timeoutMs }) });
  });
}

async function carryOut(parts: GatewayParts, permitted: PermittedCall): Promise<AdminAnswer> {
  const { freeze } = parts;
  const { request, call, body } = permitted;
  refuseWhileFrozen(freeze.state, call);
  refuseUnlessConfirmed(request, call, request.appliance);
  const isChange = changes(call.operation.row.risk);
  // A freeze cancels changes that were not sent yet.
  const signal = isChange ? AbortSignal.any([request.signal, freeze.signal]) : request.signal;
  // Before the queue: a slow upload must not keep others from changing the appliance.
  await body?.receive(request.principal.name, signal);
  const kind = isChange ? 'change' : 'read';
  try {
    return await inQueue(parts, { request, kind, signal, urgent: isEmergencyStop(permitted) }, async (held) => {
      const findings = await inspectCall(call, body?.fields ?? {}, (key, params) =>
        held.reach.client.read(key, params, request.signal),
      );
      return await send(parts, { ...permitted, held, overridden: refuseFindings(findings, request) });
    });
  } finally {
    body?.release();
  }
}

interface ReadyCall extends PermittedCall {
  readonly held: HeldSlot;
  readonly overridden: Overridden;
}

async function send(parts: GatewayParts, { request, call, body, held, overridden }: ReadyCall): Promise<AdminAnswer> {
  const { recorder, bodyLimits, freeze, timeoutMs, onChanged } = parts;
  const { appliance, slot } = held;
  const { row } = call.operation;
  const subject = subjectOf(request, call);
  const isPlain = riskOf(call) === 'read';
  refuseIfTooLate(parts, { request, slot, call });
  if (!isPlain) {
    await recorder.record(subject, { event: 'intent', ...(body ? { body: body.masked } : {}), ...overridden });
  }
  request.onSending(overridden);
  return await forward({
    appliance: appliance.name,
    principal: request.principal.name,
    relay: appliance.relay,
    call,
    body,
    slot,
    spool: bodyLimits.spool,
    freeze,
    timeoutMs,
    signal: request.signal,
    beforeSending: () => refuseIfTooLate(parts, { request, slot, call }),
    async onOver(outcome) {
      if (changes(row.risk)) onChanged(appliance.name, row.area, farmOf(call, body));
      if (!isPlain) await recorder.note(subject, outcome);
    },
  });
}

interface WaitedCall {
  readonly request: AdminRequest;
  readonly slot: QueueSlot;
  readonly call: OperationCall;
}

/** Checks again what may have changed while the request waited. */
function refuseIfTooLate({ freeze, isInForce, now }: GatewayParts, { request, slot, call }: WaitedCall): void {
  const { principal, signal } = request;
  refuseWhileFrozen(freeze.state, call);
  refuseExpired(principal, now());
  if (!isInForce(principal)) throw tokenWithdrawn(principal.name);
  if (signal.aborted || slot.signal.aborted) throw callerLeft();
}

function planInQueue(parts: GatewayParts, { request, call, body }: PermittedCall): Promise<AdminAnswer> {
  const { recorder, freeze } = parts;
  const { principal, confirm, force, reason, signal } = request;
  const { risk } = call.operation.row;
  return inQueue(parts, { request, kind: 'read', signal }, async ({ appliance, reach }) => {
    // The dry run of a change asks the appliance for parameters with a method other than GET, so it
    // is audited first.
    if (risk !== 'read') await recorder.record(subjectOf(request, call), { event: 'dry_run' });
    const plan = await planCall({
      call,
      appliance: appliance.name,
      ...reach,
      body,
      confirm,
      force,
      reason,
      frozen: freeze.state !== undefined && changes(risk),
      principal,
      mayRead: (key, row) => may(principal, key, row).allowed,
      signal,
    });
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(plan)) };
  });
}

/** Returns the farm of a call, also of one that creates it. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}

/**
 * Returns true for an admin that stops a farm: an emergency may need that, so it passes waiting
 * changes.
 */
function isEmergencyStop({ request: { principal }, call: { operation }, body }: PermittedCall): boolean {
  return principal.role === 'admin' && operation.key === 'actOnFarm' && body?.fields.action === 'stop';
}

function subjectOf(request: AdminRequest, { operation, path }: OperationCall): Subject {
  return { ...request, operation: operation.key, path };
}
