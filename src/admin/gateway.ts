import type { ApplianceClient } from '../appliance/client.ts';
import type { Area } from '../appliance/endpoints/table.ts';
import type { Relay } from '../appliance/relay.ts';
import { createAdmission } from './admission.ts';
import type { Discovery } from './discovery.ts';
import { planCall } from './dry-run.ts';
import { forward } from './forward.ts';
import type { FreezeSwitch } from './freeze.ts';
import { inspectCall } from './guards/inspect.ts';
import type { OperationCall, Operations } from './operation.ts';
import { may } from './policy.ts';
import { AdminProblem } from './problem.ts';
import type { Recorder, Subject } from './recorder.ts';
import { changes, refuseTraps, refuseUnlessConfirmed, refuseUnlessPermitted, refuseWhileFrozen } from './refusals.ts';
import type { AdminAnswer, AdminRequest } from './request.ts';
import { type BodyLimits, readBody, type RequestBody } from './request-body.ts';

/** One appliance as the gateway reaches it, with the key for changes. */
export interface AdminAppliance {
  readonly name: string;
  readonly relay: Relay;
  readonly client: ApplianceClient;
  readonly discovery: Discovery;
}

export interface GatewayParts {
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly operations: Operations;
  readonly recorder: Recorder;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
  readonly bodyLimits: BodyLimits;
  /** After a call that may have changed something, whatever came of it. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

/** What stands between a caller and an appliance: policy, freeze, confirmation, guards, audit, in this order. */
export interface Gateway {
  /** Resolves to the appliance's answer, or to the plan of a dry run; rejects with an {@link AdminProblem}. */
  handle(request: AdminRequest, onCall: (call: OperationCall) => void): Promise<AdminAnswer>;
  /** The appliance of that name, if the principal may know of it. Throws an {@link AdminProblem}. */
  applianceFor(request: Pick<AdminRequest, 'principal' | 'appliance'>): AdminAppliance;
}

/** Requests of all callers that one appliance may have before it; what comes on top is turned away. */
const mostWaiting = 16;

export function createGateway(parts: GatewayParts): Gateway {
  const { appliances, operations, recorder, freeze, bodyLimits, onChanged } = parts;
  const admission = createAdmission(mostWaiting);

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

  async function handle(request: AdminRequest, onCall: (call: OperationCall) => void): Promise<AdminAnswer> {
    const appliance = applianceFor(request);
    const call = operations.find(request.method, request.path);
    onCall(call);
    refuseUnlessPermitted(request.principal, call);
    const body = await readBody(call.operation.row.body, request, bodyLimits);
    const release = admission.enter(appliance.name);
    try {
      const answer = request.dryRun
        ? await dryRun(request, appliance, call, body)
        : await carryOut(request, appliance, call, body);
      if (Buffer.isBuffer(answer.body)) release();
      else answer.body.once('close', release);
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  }

  async function carryOut(
    request: AdminRequest,
    appliance: AdminAppliance,
    call: OperationCall,
    body: RequestBody | undefined,
  ): Promise<AdminAnswer> {
    refuseWhileFrozen(freeze.state, call);
    refuseUnlessConfirmed(request, call, appliance.name);
    const { client } = appliance;
    const findings = await inspectCall(call, body?.fields ?? {}, (key, params) =>
      client.read(key, params, request.signal),
    );
    const forced = refuseTraps(findings, request);
    // Somebody may have frozen all changes while the guards looked.
    refuseWhileFrozen(freeze.state, call);
    return await send(request, appliance, call, body, forced);
  }

  async function send(
    request: AdminRequest,
    appliance: AdminAppliance,
    call: OperationCall,
    body: RequestBody | undefined,
    forced: readonly string[],
  ): Promise<AdminAnswer> {
    const { row } = call.operation;
    const subject = subjectOf(request, call);
    if (row.risk !== 'read') {
      await recorder.record(subject, {
        event: 'intent',
        ...(body ? { body: body.masked } : {}),
        ...(forced.length > 0 ? { forced } : {}),
      });
    }
    return await forward({
      appliance: appliance.name,
      relay: appliance.relay,
      call,
      body,
      signal: request.signal,
      async onOver(outcome) {
        if (changes(row.risk)) onChanged(appliance.name, row.area, farmOf(call, body));
        if (row.risk !== 'read') await recorder.note(subject, outcome);
      },
    });
  }

  async function dryRun(
    request: AdminRequest,
    appliance: AdminAppliance,
    call: OperationCall,
    body: RequestBody | undefined,
  ): Promise<AdminAnswer> {
    const { principal, confirm: given, force, reason, signal } = request;
    const plan = await planCall({
      call,
      appliance: appliance.name,
      relay: appliance.relay,
      client: appliance.client,
      discovery: appliance.discovery,
      body,
      confirm: given,
      force,
      reason,
      frozen: freeze.state !== undefined && changes(call.operation.row.risk),
      skipConfirmation: principal.skipConfirmation,
      mayRead: (key, row) => may(principal, key, row).allowed,
      signal,
    });
    if (call.operation.row.risk !== 'read') await recorder.note(subjectOf(request, call), { event: 'dry_run' });
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(plan)) };
  }

  return { handle, applianceFor };
}

/** The farm that a call is about, also where it brings it into being. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}

function subjectOf(request: AdminRequest, { operation, path }: OperationCall): Subject {
  return { ...request, operation: operation.key, path };
}
