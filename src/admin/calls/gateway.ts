// Sends calls of people to appliances, in this order: policy, freeze, confirmation, approval, the rest
// of an upload, queue, side effect of a read, look at L4 farms, guards, intent on disk, the call, its
// outcome on disk. It is the only way to an appliance for anything that may change it, also for the
// steps of a change.
// Calls run at the same time as far as the queue allows (request-queue.ts). A reload, a freeze or the
// caller may have changed something during each wait: the appliance and the token are checked again
// in the slot, and all of it before the intent and before the first byte (`#recheck`). The gateway
// only owns the count of writes by appliance.
// The audit: `intent` and `outcome` of what may change something are written here, also `dry_run`
// and `discovery`; a `denied` of what was refused before its intent, by the error handler
// (http/access-log.ts); a `change`, by changes/change-store.ts; a freeze, by http/admin-routes.ts.
// Read on in admin-call.ts, dry-run.ts, forward.ts and recorder.ts.

import type { Logger } from 'pino';
import type { Risk } from '../../appliance/api/row.ts';
import type { Area } from '../../appliance/api/table.ts';
import type { RelayResponse } from '../../appliance/relay.ts';
import { codeOfStatus } from '../../appliance/response.ts';
import { oneLine } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { type FreezeSwitch, assertNotFrozen } from '../policy/freeze.ts';
import { blockingOf, type Overridden, overriddenBy, assertNothingBlocks } from '../policy/guards/guard.ts';
import { inspectCall } from '../policy/guards/inspect.ts';
import type { OperationCall } from '../policy/operation.ts';
import { authorise, isWrite, isWriteRisk, assertNotPlanner, risksOf } from '../policy/policy.ts';
import type { Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminCall } from './admin-call.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { assertConfirmed, type Clearance, clearanceOf } from './approval.ts';
import { discover } from './discovery.ts';
import { type DryRun, type DryRunUse, dryRunCall } from './dry-run.ts';
import { forward } from './forward.ts';
import { type L4Baseline, probeL4Before, verifyCall } from './l4-probe.ts';
import { hasSideEffectNow, UnansweredReads } from './side-effects.ts';
import type { RecordedCall } from '../../history/authors.ts';
import { withoutSecretFields } from '../../history/explanations.ts';
import type { VipLimits } from '../../collectors/collector.ts';
import type { BodyMemory } from './body-memory.ts';
import { type AdminAppliance, createSession, type ApplianceSession } from './session.ts';
import type { RequestBody } from './request-body.ts';
import type { EventFields, Recorder, AuditSubject } from './recorder.ts';
import type { WorkLabel, QueueRequest, RequestQueue } from './request-queue.ts';

export interface GatewayParts {
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly principals: Pick<Principals, 'assertInForce'>;
  readonly queue: Pick<RequestQueue, 'run'>;
  readonly recorder: Pick<Recorder, 'recordOrRefuse' | 'recordBestEffort' | 'holdsSecret'>;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** The risks whose calls need a second person; a reload may change them. */
  readonly approvals: () => { readonly requiredFor: readonly Risk[] };
  readonly memory: BodyMemory;
  readonly metrics: Pick<AdminMetrics, 'countCall' | 'countOverridden'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Maximum time until an appliance begins its response; a reload may change it. */
  readonly timeoutMs: () => number;
  /** Returns where the L4 farms of an appliance may be probed. */
  readonly vipLimitsOf: (appliance: string) => VipLimits | undefined;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Records a write right before it is sent; the returned function records its outcome. */
  readonly recordInHistory: (call: RecordedCall, farm: string) => (text: string, status: number | undefined) => void;
  /** Reads again what a write may have changed, whatever its outcome. */
  readonly refresh: (appliance: string, area: Area, farm: string | undefined) => void;
}

type QueuedCaller = Pick<AdminCall, 'principal' | 'appliance' | 'signal' | 'permit'>;

/** How long the guards of a step use what its plan has just read. */
const maxReadAgeMs = 1_000;

/** Sends calls to appliances. A step that refuses a call throws an {@link AdminProblem}. */
export class Gateway {
  readonly #parts: GatewayParts;
  /** How many writes began or ended, by appliance. */
  readonly #writeCounts = new Map<string, number>();
  readonly #unanswered = new UnansweredReads((appliance) => this.writeCountOf(appliance));

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** Returns a number that is another one after each write that was sent to the appliance. */
  writeCountOf(appliance: string): number {
    return this.#writeCounts.get(appliance) ?? 0;
  }

  /**
   * Returns the appliance of a name if the principal may know of it. First: an unknown or denied
   * one must not be parsed any further.
   */
  applianceFor({ principal, appliance: name }: Pick<AdminCall, 'principal' | 'appliance'>): AdminAppliance {
    // Checked before the lookup: a caller without access must not learn whether the name exists.
    if (!principal.covers(name)) {
      throw new AdminProblem('appliance_denied', {
        detail: `The token of ${principal.name} does not cover an appliance of this name; nothing was sent.`,
      });
    }
    const appliance = this.#parts.appliances.get(name);
    if (appliance) return appliance;
    throw new AdminProblem('unknown_appliance', { detail: 'No appliance of this name is configured.' });
  }

  /**
   * Makes all checks and sends the call; resolves to the appliance's response, or to `needs_approval`
   * if somebody has to approve it first. The listener has authenticated its caller
   * (http/authenticate.ts). A call from outside that cuts L4 farms is refused with `l4_cut`, whatever
   * the appliance answered.
   */
  async send(call: AdminCall): Promise<RelayResponse | 'needs_approval'> {
    const { body, principal } = call;
    const clearance = this.#admit(call);
    if (clearance === 'needs_approval') return clearance;
    const options = this.#queueOptionsOf(call);
    // Before the queue: a slow upload must not keep others from changing the appliance.
    await body?.receive(principal.name, options.signal);
    let baseline: L4Baseline | undefined;
    const sending = this.#inQueue(call, options, async (session) => {
      const ofSideEffect = await this.#admitSideEffect(call, session);
      baseline = await this.#probeL4Before(call, session);
      const overridden = {
        ...(await this.#guard(call, session)),
        ...([clearance, ofSideEffect].includes('break_glass') ? { break_glass: true as const } : {}),
      };
      this.#recheck(call, session);
      await this.#recordIntent(call, overridden);
      if (isWrite(call.target)) this.#countWrite(call);
      this.#reportOverridden(call, overridden);
      return await this.#forward(call, session);
    }).finally(() => body?.release());
    // The slot is free again: an emergency stop must not wait for the look at other farms.
    return await verifyCall(sending, () => (call.stage === 'sent' ? baseline : undefined));
  }

  /** Makes a dry run: all steps but sending, with the refusals listed. */
  async dryRun(call: AdminCall, use: DryRunUse = { purpose: 'caller', cache: new Map() }): Promise<DryRun> {
    const { recorder, freeze, approvals } = this.#parts;
    this.applianceFor(call);
    authorise(call.principal, call.target);
    const { risk } = call.target.operation.row;
    const options = { kind: 'read', signal: call.signal, label: this.#labelOf(call, 'dry run') } as const;
    return await this.#inQueue(call, options, async (session) => {
      // The dry run of a change asks the appliance for parameters with a method other than GET, so
      // it is audited first. One for a plan does not ask, and its change has records of its own.
      if (risk !== 'read' && use.purpose === 'caller')
        await recorder.recordOrRefuse(auditSubjectOf(call), { event: 'dry_run' });
      return await dryRunCall({
        ...use,
        call,
        session,
        frozen: freeze.state !== undefined && isWrite(call.target),
        clearance: clearanceOf(approvals(), call),
      });
    });
  }

  /**
   * Asks an appliance for the parameters of a call. This changes nothing, but it is a POST or a
   * PUT: the caller must be allowed the operation, the audit records it first, and a freeze refuses
   * it.
   */
  async parametersOf(
    target: OperationCall,
    caller: QueuedCaller & Pick<AuditSubject, 'id' | 'token' | 'address' | 'reason'>,
  ) {
    const { freeze, recorder } = this.#parts;
    const { signal } = caller;
    const { operationId, row, method } = target.operation;
    authorise(caller.principal, target);
    assertNotFrozen(freeze, target);
    const label = { noun: 'question for parameters', object: `of ${operationId}` };
    return await this.#inQueue(caller, { kind: 'read', signal, label }, async (session) => {
      assertNotFrozen(freeze, target);
      await recorder.recordOrRefuse(
        { ...caller, operation: operationId, method, path: target.path },
        { event: 'discovery' },
      );
      return { operation: operationId, route: row.route, ...(await discover(session, target)) };
    });
  }

  /** Makes the checks that need no appliance, and decides whether the call needs approval. */
  #admit(call: AdminCall): Clearance {
    const { target, principal } = call;
    this.applianceFor(call);
    authorise(principal, target);
    if (isWrite(target)) assertNotPlanner(principal);
    assertNotFrozen(this.#parts.freeze, target);
    assertConfirmed(call);
    const clearance = clearanceOf(this.#parts.approvals(), call);
    if (clearance instanceof AdminProblem) throw clearance;
    return clearance;
  }

  /** Returns how a call waits in the queue; the signal ends it before it is sent. */
  #queueOptionsOf(call: AdminCall): Omit<QueueRequest, 'appliance' | 'principal'> {
    const { target, body, signal, principal } = call;
    if (!isWrite(target)) return { kind: 'read', signal, label: this.#labelOf(call, 'read') };
    // An admin may have to stop a farm in an emergency: that overtakes waiting writes.
    const isStop = target.operation.operationId === 'actOnFarm' && body?.fields.action === 'stop';
    return {
      kind: 'write',
      label: this.#labelOf(call, 'write'),
      signal: AbortSignal.any([signal, this.#parts.freeze.signal]),
      urgent: isStop && principal.role === 'admin',
    };
  }

  #labelOf({ token, target, body }: AdminCall, noun: string): WorkLabel {
    const farm = this.#parts.recorder.holdsSecret(target.params, token) ? undefined : farmOf(target, body);
    return { noun, object: farm === undefined ? `(${target.operation.operationId})` : `of farm ${oneLine(farm, 100)}` };
  }

  /** Runs the work in a slot of the queue, if the caller and the appliance are still there then. */
  async #inQueue<Value>(
    caller: QueuedCaller,
    options: Omit<QueueRequest, 'appliance' | 'principal'>,
    work: (session: ApplianceSession) => Promise<Value>,
  ): Promise<Value> {
    const { queue, timeoutMs } = this.#parts;
    const { principal, appliance: name, signal } = caller;
    return await queue.run({ ...options, appliance: name, principal: principal.name }, async (slot) => {
      // Again: a reload may have replaced the appliance.
      const appliance = this.applianceFor(caller);
      const session = createSession({ appliance, slot, timeoutMs: timeoutMs(), signal });
      this.#recheckCaller(caller, session);
      return await work(session);
    });
  }

  /**
   * Some reads have side effects on L4 farms (docs/api.md §1.7). Detects that right before the read,
   * which is then admitted again, as a write.
   */
  async #admitSideEffect(call: AdminCall, session: ApplianceSession): Promise<Clearance> {
    if (!(await hasSideEffectNow(call.target, session))) return 'cleared';
    call.target = { ...call.target, hasSideEffect: true };
    const clearance = this.#admit(call);
    this.#unanswered.assertAnswered(call);
    return clearance;
  }

  /** In the slot: many calls at a time would flood the farms. A step of a change probes by itself. */
  async #probeL4Before(
    { permit, target, body }: AdminCall,
    { appliance: { name, knownFarms }, slot }: ApplianceSession,
  ) {
    if (permit) return undefined;
    // Not the signal of the caller, who may leave before the farms are probed again.
    const { signal } = slot;
    const vipLimits = this.#parts.vipLimitsOf(name);
    const sleep = (ms: number): Promise<void> => this.#parts.sleep(ms, signal);
    const { operation, params } = target;
    const call = { operationId: operation.operationId, params, fields: body?.fields ?? {} };
    return await probeL4Before(call, { appliance: name, knownFarms, vipLimits, signal, sleep });
  }

  async #guard(call: AdminCall, session: ApplianceSession): Promise<Overridden> {
    const { appliance, target, body, permit } = call;
    const { reads } = permit ?? {};
    // What the plan of a step has just read, unless a write came since, or the step had to wait.
    const isFresh = reads?.writeCount === this.writeCountOf(appliance) && steadyNow() - reads.atSteadyMs < maxReadAgeMs;
    const findings = await inspectCall(target, body?.fields ?? {}, session, isFresh ? reads.cache : undefined);
    const isSeen = blockingOf(findings).every(({ guard: name }) => permit?.guards.has(name) ?? true);
    const overridden = isSeen ? overriddenBy(findings, call) : {};
    assertNothingBlocks(findings, overridden);
    return overridden;
  }

  /** Checks again what may have changed during a wait. */
  #recheck(call: AdminCall, session: ApplianceSession): void {
    assertNotFrozen(this.#parts.freeze, call.target);
    this.#recheckCaller(call, session);
    assertPlannedUrl(call, session.appliance);
  }

  #recheckCaller({ principal, permit }: QueuedCaller, session: ApplianceSession): void {
    if (!permit?.isRollback) this.#parts.principals.assertInForce(principal);
    session.assertCallerPresent();
  }

  async #recordIntent(call: AdminCall, overridden: Overridden): Promise<void> {
    const { body, permit } = call;
    if (!isAudited(call)) return;
    await this.#parts.recorder.recordOrRefuse(auditSubjectOf(call), {
      event: 'intent',
      ...(body ? { body: body.masked } : {}),
      ...(body?.sha256 === undefined ? {} : { body_sha256: body.sha256 }),
      ...(permit ? { requested_by: permit.requestedBy } : {}),
      ...overridden,
    });
    call.stage = 'recorded';
  }

  /** Counts and logs what a call overrides, whether its caller waits for it or a change makes it. */
  #reportOverridden({ id, principal, address, appliance, target }: AdminCall, overridden: Overridden): void {
    const { metrics, log } = this.#parts;
    metrics.countOverridden(appliance, overridden);
    const { operationId: operation } = target.operation;
    const fields = { request: id, principal: principal.name, address, appliance, operation, ...overridden };
    if (Object.keys(overridden).length > 0) log.warn(fields, 'call overrides guards or approval');
  }

  async #forward(call: AdminCall, session: ApplianceSession): Promise<RelayResponse> {
    const { memory, freeze, timeoutMs, recordInHistory } = this.#parts;
    let reportOutcome: ReturnType<GatewayParts['recordInHistory']> | undefined;
    return await forward({
      call,
      appliance: session.appliance,
      slot: session.slot,
      memory,
      freeze,
      timeoutMs: Math.min(call.limitMs ?? timeoutMs(), timeoutMs()),
      beforeSending: () => {
        this.#recheck(call, session);
        if (isWrite(call.target)) reportOutcome = recordInHistory(...this.#historyEntryOf(call));
      },
      onOutcome: async (outcome) => {
        const { status } = outcome;
        reportOutcome?.(`${describeWrite(call)}: ${status ? `HTTP ${status}` : 'no answer'}`, status ?? undefined);
        await this.#recordOutcome(call, outcome);
      },
    });
  }

  async #recordOutcome(call: AdminCall, outcome: EventFields): Promise<void> {
    const { recorder, metrics, refresh } = this.#parts;
    const { appliance, target, body } = call;
    const { row, method, template: endpoint } = target.operation;
    if (isWrite(target)) {
      this.#countWrite(call);
      this.#unanswered.record(call, outcome);
      metrics.countCall({ appliance, endpoint, method, code: codeOfStatus(outcome.status ?? 0) });
      refresh(appliance, row.area, farmOf(target, body));
    }
    if (isAudited(call)) await recorder.recordBestEffort(auditSubjectOf(call), outcome);
  }

  /**
   * Returns a write for the history: of its body, the names of fields, and the texts of settings
   * without secrets. Nothing of a call that names a secret.
   */
  #historyEntryOf({
    id,
    appliance,
    principal,
    permit,
    token,
    target,
    body,
  }: AdminCall): readonly [call: RecordedCall, farm: string] {
    const fields = withoutSecretFields(body?.fields ?? {});
    const approved = permit?.approvedBy === undefined ? '' : `, approved by ${permit.approvedBy}`;
    const by = permit ? `change ${id} by ${permit.requestedBy}${approved}` : `call ${id} by ${principal.name}`;
    if (this.#parts.recorder.holdsSecret([target.params, fields], token))
      return [{ appliance, route: '', params: {}, fields: {}, by }, ''];
    return [
      { appliance, route: target.operation.row.route, params: target.params, fields, by },
      farmOf(target, body) ?? '',
    ];
  }

  #countWrite({ appliance }: Pick<AdminCall, 'appliance'>): void {
    this.#writeCounts.set(appliance, this.writeCountOf(appliance) + 1);
  }
}

/** A reload may give the name of an appliance to another machine. */
function assertPlannedUrl({ permit, target: { operation, path } }: AdminCall, { name, relay }: AdminAppliance): void {
  if (!permit || !isWriteRisk(operation.row.risk) || permit.urls.has(relay.urlOf(path))) return;
  throw new AdminProblem('plan_changed', {
    detail: `${name} is not the machine that the plan names; nothing was sent.`,
    remedy: 'Ask again: a reload has changed the url of the appliance.',
  });
}

/** Returns false for plain reads, which the audit does not have. */
function isAudited({ target }: AdminCall): boolean {
  return risksOf(target).some((risk) => risk !== 'read');
}

function auditSubjectOf(call: AdminCall): AuditSubject {
  const { operation, path } = call.target;
  return { ...call, operation: operation.operationId, method: operation.method, path };
}

/** Describes a write by its row. Its body may have a secret, so only known actions are named. */
function describeWrite({ target, body }: AdminCall): string {
  const action = body?.fields.action;
  const isKnown = typeof action === 'string' && /^(?:start|stop|restart|up|down|maintenance|apply)$/.test(action);
  return `${target.operation.row.summary}${isKnown ? ` (${action})` : ''}`;
}

/** Returns the farm of a call, also of one that creates it. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}
