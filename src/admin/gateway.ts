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
  refuseTraps,
  refuseUnlessConfirmed,
  refuseUnlessPermitted,
  refuseWhileFrozen,
  tokenWithdrawn,
} from './refusals.ts';
import type { AdminAnswer, AdminRequest } from './request.ts';
import { type BodyLimits, readBody, type RequestBody } from './request-body.ts';
import type { Place, RequestQueue, Turn } from './request-queue.ts';

/** One appliance as the gateway reaches it, with the key for changes. */
export interface AdminAppliance {
  readonly name: string;
  readonly relay: Relay;
  readonly client: ApplianceClient;
}

/** An appliance while a request holds a place on it. */
interface Held {
  readonly appliance: AdminAppliance;
  readonly place: Place;
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
  /** How long a caller waits for an answer of an appliance. */
  readonly timeoutMs: number;
  /** After a call that may have changed something, whatever came of it. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

/** What stands between a caller and an appliance: policy, freeze, confirmation, guards, audit, in this order. */
export interface Gateway {
  /** Resolves to the appliance's answer, or to the plan of a dry run; rejects with an {@link AdminProblem}. */
  handle(request: AdminRequest): Promise<AdminAnswer>;
  /** The appliance of that name, if the principal may know of it. Throws an {@link AdminProblem}. */
  applianceFor(request: Pick<AdminRequest, 'principal' | 'appliance'>): AdminAppliance;
}

export function createGateway(parts: GatewayParts): Gateway {
  const { appliances, operations, queue, recorder, freeze, isInForce, now, bodyLimits, timeoutMs, onChanged } = parts;

  function applianceFor({ principal, appliance: name }: Pick<AdminRequest, 'principal' | 'appliance'>): AdminAppliance {
    // Before it is looked up: who may not use a name does not learn whether there is one.
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

  async function handle(request: AdminRequest): Promise<AdminAnswer> {
    // Before all else: what it does not know it does not look at.
    applianceFor(request);
    const call = operations.find(request.method, request.path);
    request.onCall(call);
    refuseUnlessPermitted(request.principal, call);
    const body = await readBody(call.operation.row.body, request, bodyLimits);
    if (!request.dryRun) return await carryOut(request, call, body);
    const turn = { kind: 'read', signal: request.signal } as const;
    return await inQueue(turn, request, (held) => dryRun(request, held, call, body));
  }

  /** Runs the work once there is a place. Looks the appliance up again after the wait: a reload may have replaced it. */
  async function inQueue(
    turn: Pick<Turn, 'kind' | 'signal' | 'urgent'>,
    request: AdminRequest,
    work: (held: Held) => Promise<AdminAnswer>,
  ): Promise<AdminAnswer> {
    const { appliance, principal } = request;
    return await queue.run({ ...turn, appliance, principal: principal.name }, async (place) => {
      const current = applianceFor(request);
      return await work({ appliance: current, place, reach: createReach({ ...current, place, timeoutMs }) });
    });
  }

  async function carryOut(
    request: AdminRequest,
    call: OperationCall,
    body: RequestBody | undefined,
  ): Promise<AdminAnswer> {
    refuseWhileFrozen(freeze.state, call);
    refuseUnlessConfirmed(request, call, request.appliance);
    const isChange = changes(call.operation.row.risk);
    // A freeze takes back whatever was not sent yet.
    const signal = isChange ? AbortSignal.any([request.signal, freeze.signal]) : request.signal;
    // Before it waits for its turn: a slow upload must not keep others from changing the appliance.
    await body?.receive(request.principal.name, signal);
    const turn = { kind: isChange ? 'change' : 'read', signal, urgent: isEmergencyStop(request, call, body) } as const;
    try {
      return await inQueue(turn, request, async (held) => {
        const findings = await inspectCall(call, body?.fields ?? {}, (key, params) =>
          held.reach.client.read(key, params, request.signal),
        );
        return await send(request, held, call, body, refuseTraps(findings, request));
      });
    } finally {
      body?.release();
    }
  }

  async function send(
    request: AdminRequest,
    { appliance, place }: Held,
    call: OperationCall,
    body: RequestBody | undefined,
    overridden: Overridden,
  ): Promise<AdminAnswer> {
    const { row } = call.operation;
    const subject = subjectOf(request, call);
    const isPlain = riskOf(call) === 'read';
    refuseIfTooLate(request, place, call);
    if (!isPlain) {
      await recorder.record(subject, {
        event: 'intent',
        ...(body ? { body: body.masked } : {}),
        ...overridden,
      });
    }
    request.onSending(overridden);
    return await forward({
      appliance: appliance.name,
      principal: request.principal.name,
      relay: appliance.relay,
      call,
      body,
      place,
      spool: bodyLimits.spool,
      freeze,
      timeoutMs,
      signal: request.signal,
      beforeSending: () => refuseIfTooLate(request, place, call),
      async onOver(outcome) {
        if (changes(row.risk)) onChanged(appliance.name, row.area, farmOf(call, body));
        if (!isPlain) await recorder.note(subject, outcome);
      },
    });
  }

  /** A request may have waited: what was right when it came need not be any more. */
  function refuseIfTooLate({ principal, signal }: AdminRequest, place: Place, call: OperationCall): void {
    refuseWhileFrozen(freeze.state, call);
    refuseExpired(principal, now());
    if (!isInForce(principal)) throw tokenWithdrawn(principal.name);
    if (signal.aborted || place.signal.aborted) throw callerLeft();
  }

  async function dryRun(
    request: AdminRequest,
    { appliance, reach }: Held,
    call: OperationCall,
    body: RequestBody | undefined,
  ): Promise<AdminAnswer> {
    const { principal, confirm: given, force, reason, signal } = request;
    // The question for parameters is no GET, so that it too is on record before it leaves.
    if (call.operation.row.risk !== 'read') await recorder.record(subjectOf(request, call), { event: 'dry_run' });
    const plan = await planCall({
      call,
      appliance: appliance.name,
      ...reach,
      body,
      confirm: given,
      force,
      reason,
      frozen: freeze.state !== undefined && changes(call.operation.row.risk),
      principal,
      mayRead: (key, row) => may(principal, key, row).allowed,
      signal,
    });
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(plan)) };
  }

  return { handle, applianceFor };
}

/** The farm that a call is about, also where it brings it into being. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}

/** Stopping a farm is what an emergency may need: from an admin it passes the changes that wait. */
function isEmergencyStop(
  { principal }: AdminRequest,
  { operation }: OperationCall,
  body: RequestBody | undefined,
): boolean {
  return principal.role === 'admin' && operation.key === 'actOnFarm' && body?.fields.action === 'stop';
}

function subjectOf(request: AdminRequest, { operation, path }: OperationCall): Subject {
  return { ...request, operation: operation.key, path };
}
