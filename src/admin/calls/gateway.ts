// Sends calls of people to appliances, in this order: policy, freeze, confirmation, queue, guards,
// intent on disk, the call, its outcome on disk. It is the only way to an appliance for anything
// that may change it, also for the steps of a change. Calls run at the same time as far as the
// queue allows (request-queue.ts), and each wait is followed by a check of what may have changed
// meanwhile. The journal owns the records; the gateway only owns the count of changes by appliance.
// Read on in request.ts, dry-run.ts, forward.ts and recorder.ts.

import type { Risk } from '../../appliance/api/row.ts';
import type { Area } from '../../appliance/api/table.ts';
import { codeOfStatus } from '../../appliance/answer.ts';
import { assert } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { type FreezeSwitch, refuseFrozen } from '../policy/freeze.ts';
import {
  type KnownReplies,
  blockingOf,
  type Overridden,
  overriddenBy,
  refuseFindings,
} from '../policy/guards/guard.ts';
import { inspectCall } from '../policy/guards/inspect.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { authorise, changes, isChange, refusePlanner, risksOf } from '../policy/policy.ts';
import type { Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { actsNow, UnansweredReads } from './acting-reads.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type Approval, approvalOf } from './needs-approval.ts';
import { confirm } from './confirmation.ts';
import { discover } from './discovery.ts';
import { type DryRun, dryRunCall } from './dry-run.ts';
import { forward } from './forward.ts';
import type { GatewayCall } from '../../history/authors.ts';
import { withoutSecretFields } from '../../history/writes.ts';
import { type AdminAppliance, createReach, type ApplianceReach } from './reach.ts';
import type { Particulars, Recorder, Subject } from './recorder.ts';
import type { AdminAnswer, AdminRequest, PermittedCall } from './request.ts';
import { type BodyLimits, readBody, type RequestBody } from './request-body.ts';
import type { QueuedWork, QueueRequest, QueueSlot, RequestQueue } from './request-queue.ts';

export interface GatewayParts {
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly operations: Operations;
  readonly principals: Pick<Principals, 'refuseUnlessInForce'>;
  readonly queue: Pick<RequestQueue, 'run'>;
  readonly recorder: Pick<Recorder, 'record' | 'note' | 'holdsSecret'>;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** The risks whose calls need a second person; a reload may change them. */
  readonly approvals: () => { readonly requiredFor: readonly Risk[] };
  readonly bodyLimits: BodyLimits;
  readonly metrics: Pick<AdminMetrics, 'sent'>;
  /** Maximum time until an appliance begins its answer. */
  readonly timeoutMs: number;
  /**
   * Called right before a call leaves that may change something; the function that it returns is
   * called with what became of it.
   */
  readonly onLeaving: (touch: GatewayCall, farm: string) => (text: string, status: number | undefined) => void;
  /** Called after each call that may have changed something, whatever its outcome. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

/** A call after its first checks, and whether it may be sent at once. */
export interface AdmittedCall extends PermittedCall {
  readonly approval: Approval;
}

type NamedAppliance = Pick<AdminRequest, 'principal' | 'appliance'>;
type QueuedCaller = Pick<AdminRequest, 'principal' | 'appliance' | 'signal'>;
type QueuePlace = Pick<QueueRequest, 'kind' | 'signal' | 'urgent' | 'what'>;

/** A slot of the queue that a request holds, with the connections for its calls. */
interface HeldSlot {
  readonly appliance: AdminAppliance;
  readonly slot: QueueSlot;
  readonly reach: ApplianceReach;
}

/** The time after its plan in which a change is sent without reading everything again. */
const maxReadAgeMs = 1_000;

/**
 * Sends calls to appliances, after policy, freeze, confirmation, guards and audit: the only way to
 * them, for a call from outside and for a step of a change. A step that refuses throws an
 * {@link AdminProblem}.
 */
export class Gateway {
  readonly #parts: GatewayParts;
  /** How often a change began or ended, by appliance. */
  readonly #changeCounts = new Map<string, number>();
  readonly #unanswered = new UnansweredReads((appliance) => this.changesOf(appliance));

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** Returns a number that is another one after each change that was sent to the appliance. */
  changesOf(appliance: string): number {
    return this.#changeCounts.get(appliance) ?? 0;
  }

  /**
   * Returns the appliance of a name if the principal may know of it. First: an unknown or denied
   * one must not be parsed any further.
   */
  applianceFor({ principal, appliance: name }: NamedAppliance): AdminAppliance {
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
   * Makes the checks that need no appliance, and decides whether the call needs approval. The
   * listener has authenticated its caller (admin/http/authenticate.ts).
   */
  async admit(request: AdminRequest): Promise<AdmittedCall> {
    const permitted = await this.#permit(request);
    const { call } = permitted;
    if (isChange(call)) refusePlanner(request.principal);
    refuseFrozen(this.#parts.freeze, call);
    confirm(request, call);
    return { ...permitted, approval: this.#approvalOf(permitted) };
  }

  /**
   * Makes the other checks and sends the call; resolves to the appliance's answer. Each wait is
   * followed by a check of what may have changed meanwhile.
   */
  async send({ approval, ...asked }: AdmittedCall): Promise<AdminAnswer> {
    const { request, body } = asked;
    assert(approval !== 'waits', 'a call that needs approval is asked for instead');
    const place = this.#placeOf(asked);
    // Before the queue: a slow upload must not keep others from changing the appliance.
    await body?.receive(request.principal.name, place.signal);
    try {
      return await this.#inQueue(request, place, async (held) => {
        const permitted = await this.#withEffect(asked, held);
        const overridden = {
          ...(await this.#guard(permitted, held)),
          ...(approval === 'break_glass' ? { break_glass: true as const } : {}),
        };
        this.#recheck(permitted, held);
        await this.#recordIntent(permitted, overridden);
        if (isChange(permitted.call)) this.#countChange(request);
        request.onSending(overridden);
        return await this.#forward(permitted, held);
      });
    } finally {
      body?.release();
    }
  }

  /** Makes a dry run: all steps but sending, with the refusals listed. */
  async dryRun(request: AdminRequest): Promise<DryRun> {
    const { recorder, freeze, approvals } = this.#parts;
    const permitted = await this.#permit(request);
    const { call } = permitted;
    const { risk } = call.operation.row;
    const place = { kind: 'read', signal: request.signal, what: this.#workOf(permitted, 'dry run') } as const;
    return await this.#inQueue(request, place, async ({ reach }) => {
      // The dry run of a change asks the appliance for parameters with a method other than GET, so
      // it is audited first. One for a plan does not ask, and its change has records of its own.
      if (risk !== 'read' && !request.planning) await recorder.record(subjectOf(permitted), { event: 'dry_run' });
      return await dryRunCall({
        ...permitted,
        reach,
        frozen: freeze.state !== undefined && changes(risk),
        approval: approvalOf(approvals(), request, call),
      });
    });
  }

  /**
   * Asks an appliance for the parameters of a call. This changes nothing, but it is a POST or a
   * PUT: the caller must be allowed the operation, the audit records it first, and a freeze refuses
   * it.
   */
  async parametersOf(call: OperationCall, caller: QueuedCaller & Pick<Subject, 'id' | 'token' | 'address' | 'reason'>) {
    const { freeze, recorder } = this.#parts;
    const { signal } = caller;
    const { key, row, method } = call.operation;
    authorise(caller.principal, call);
    refuseFrozen(freeze, call);
    const what = { noun: 'question for parameters', object: `of ${key}` };
    return await this.#inQueue(caller, { kind: 'read', signal, what }, async ({ reach }) => {
      refuseFrozen(freeze, call);
      await recorder.record({ ...caller, operation: key, method, path: call.path }, { event: 'discovery' });
      return { operation: key, route: row.route, ...(await discover(reach, call)) };
    });
  }

  /** Runs the first steps, which a dry run has as well. */
  async #permit(request: AdminRequest): Promise<PermittedCall> {
    const { operations, bodyLimits } = this.#parts;
    this.applianceFor(request);
    const call = operations.find(request.method, request.path);
    request.onCall(call);
    authorise(request.principal, call);
    return { request, call, body: await readBody(call.operation.row.body, request, bodyLimits) };
  }

  #approvalOf({ request, call }: PermittedCall): Approval {
    const approval = approvalOf(this.#parts.approvals(), request, call);
    if (approval instanceof AdminProblem) throw approval;
    return approval;
  }

  /** Returns the place of a request in the queue, and the signal that ends it before it is sent. */
  #placeOf(permitted: PermittedCall): QueuePlace {
    const { request, call, body } = permitted;
    if (!isChange(call)) return { kind: 'read', signal: request.signal, what: this.#workOf(permitted, 'read') };
    // An admin may have to stop a farm in an emergency: that passes waiting changes.
    const isStop = call.operation.key === 'actOnFarm' && body?.fields.action === 'stop';
    return {
      kind: 'change',
      what: this.#workOf(permitted, 'change'),
      signal: AbortSignal.any([request.signal, this.#parts.freeze.signal]),
      urgent: isStop && request.principal.role === 'admin',
    };
  }

  /** Names the work of a request by its farm, or its operation. */
  #workOf({ request, call, body }: PermittedCall, noun: string): QueuedWork {
    const farm = this.#parts.recorder.holdsSecret(call.params, request.token) ? undefined : farmOf(call, body);
    return { noun, object: farm === undefined ? `(${call.operation.key})` : `of farm ${oneLine(farm, 100)}` };
  }

  /** Runs the work in a slot of the queue, if the caller and the appliance are still there then. */
  async #inQueue<Result>(
    caller: QueuedCaller,
    place: QueuePlace,
    work: (held: HeldSlot) => Promise<Result>,
  ): Promise<Result> {
    const { queue, timeoutMs } = this.#parts;
    const { principal, appliance: name, signal } = caller;
    return await queue.run({ ...place, appliance: name, principal: principal.name }, async (slot) => {
      // Again: a reload may have replaced the appliance.
      const appliance = this.applianceFor(caller);
      const held = { appliance, slot, reach: createReach({ appliance, slot, timeoutMs, signal }) };
      this.#recheckCaller(caller, held);
      return await work(held);
    });
  }

  /**
   * Looks whether the farm of a read that acts on L4 farms is one, right before it is sent: then
   * the caller needs the right of its effect.
   */
  async #withEffect(permitted: PermittedCall, { reach, appliance }: HeldSlot): Promise<PermittedCall> {
    if (!(await actsNow(permitted.call, reach, appliance.name))) return permitted;
    const { principal, onCall } = permitted.request;
    const acting = { ...permitted, call: { ...permitted.call, acts: true as const } };
    onCall(acting.call);
    authorise(principal, acting.call);
    refusePlanner(principal);
    refuseFrozen(this.#parts.freeze, acting.call);
    this.#approvalOf(acting);
    this.#unanswered.refuse(acting);
    return acting;
  }

  async #guard({ request, call, body }: PermittedCall, { reach }: HeldSlot): Promise<Overridden> {
    const findings = await inspectCall(call, body?.fields ?? {}, reach, this.#recentAnswers(request));
    const isSeen = blockingOf(findings).every(({ guard: name }) => request.plan?.guards.has(name) ?? true);
    const overridden = isSeen ? overriddenBy(findings, request) : {};
    refuseFindings(findings, overridden);
    return overridden;
  }

  /**
   * Returns the replies that the plan of a change was just made from; undefined if a change was
   * sent to the appliance since, or if this one had to wait.
   */
  #recentAnswers({ appliance, plan }: AdminRequest): KnownReplies | undefined {
    const recent = plan?.recent;
    if (!recent || recent.changes !== this.changesOf(appliance)) return undefined;
    return steadyNow() - recent.atMs < maxReadAgeMs ? recent.answers : undefined;
  }

  /** Checks again what may have changed during a wait. */
  #recheck({ request, call }: PermittedCall, held: HeldSlot): void {
    refuseFrozen(this.#parts.freeze, call);
    this.#recheckCaller(request, held);
    refuseUnplanned(request, call, held);
  }

  #recheckCaller({ principal }: QueuedCaller, { reach }: HeldSlot): void {
    this.#parts.principals.refuseUnlessInForce(principal);
    reach.refuseGone();
  }

  async #recordIntent(permitted: PermittedCall, overridden: Overridden): Promise<void> {
    const { body, request } = permitted;
    const { plan } = request;
    if (!isAudited(permitted)) return;
    await this.#parts.recorder.record(subjectOf(permitted), {
      event: 'intent',
      ...(body ? { body: body.masked } : {}),
      ...(body?.sha256 === undefined ? {} : { body_sha256: body.sha256 }),
      ...(plan ? { requested_by: plan.requestedBy } : {}),
      ...overridden,
    });
  }

  async #forward(permitted: PermittedCall, held: HeldSlot): Promise<AdminAnswer> {
    const { bodyLimits, freeze, timeoutMs, onLeaving } = this.#parts;
    let over: ReturnType<GatewayParts['onLeaving']> | undefined;
    return await forward({
      ...permitted,
      ...held,
      memory: bodyLimits.memory,
      freeze,
      timeoutMs: Math.min(permitted.request.limitMs ?? timeoutMs, timeoutMs),
      beforeSending: () => {
        this.#recheck(permitted, held);
        if (isChange(permitted.call)) over = onLeaving(...this.#touchOf(permitted));
      },
      onOver: async (outcome) => {
        const { status } = outcome;
        over?.(`${whatWasDone(permitted)}: ${status ? `HTTP ${status}` : 'no answer'}`, status ?? undefined);
        await this.#recordOutcome(permitted, outcome);
      },
    });
  }

  async #recordOutcome(permitted: PermittedCall, outcome: Particulars): Promise<void> {
    const { recorder, metrics, onChanged } = this.#parts;
    const { request, call, body } = permitted;
    const { appliance } = request;
    const { row, method, template: endpoint } = call.operation;
    if (isChange(call)) {
      this.#countChange(request);
      this.#unanswered.note(permitted, outcome);
      metrics.sent({ appliance, endpoint, method, code: codeOfStatus(outcome.status ?? 0) });
      onChanged(appliance, row.area, farmOf(call, body));
    }
    if (isAudited(permitted)) await recorder.note(subjectOf(permitted), outcome);
  }

  /**
   * Describes what a call may change; of its body, the names of fields, and the texts of settings
   * without secrets. A call that names a secret is not an author of anything.
   */
  #touchOf({ request, call, body }: PermittedCall): readonly [touch: GatewayCall, farm: string] {
    const { id, appliance, principal, plan, token } = request;
    const fields = withoutSecretFields(body?.fields ?? {});
    const approved = plan?.approvedBy === undefined ? '' : `, approved by ${plan.approvedBy}`;
    const by = plan ? `change ${id} by ${plan.requestedBy}${approved}` : `call ${id} by ${principal.name}`;
    if (this.#parts.recorder.holdsSecret([call.params, fields], token))
      return [{ appliance, route: '', params: {}, fields: {}, by }, ''];
    return [{ appliance, route: call.operation.row.route, params: call.params, fields, by }, farmOf(call, body) ?? ''];
  }

  #countChange({ appliance }: Pick<AdminRequest, 'appliance'>): void {
    this.#changeCounts.set(appliance, this.changesOf(appliance) + 1);
  }
}

/** Refuses a call that the plan of its change does not have. */
function refuseUnplanned({ plan }: AdminRequest, { operation, path }: OperationCall, held: HeldSlot): void {
  if (!plan || !changes(operation.row.risk) || plan.urls.has(held.reach.urlOf(path))) return;
  throw new AdminProblem('plan_changed', {
    detail: `${held.appliance.name} is not the machine that the plan names; nothing was sent.`,
    remedy: 'Ask again: a reload has changed the url of the appliance.',
  });
}

/** Returns false for plain reads, of which the audit has nothing. */
function isAudited({ call }: PermittedCall): boolean {
  return risksOf(call).some((risk) => risk !== 'read');
}

function subjectOf({ request, call: { operation, path } }: PermittedCall): Subject {
  return { ...request, operation: operation.key, path };
}

/** Says what a call does. Its body may have a secret, so only known actions are named. */
function whatWasDone({ call, body }: PermittedCall): string {
  const action = body?.fields.action;
  const isKnown = typeof action === 'string' && /^(?:start|stop|restart|up|down|maintenance|apply)$/.test(action);
  return `${call.operation.row.summary}${isKnown ? ` (${action})` : ''}`;
}

/** Returns the farm of a call, also of one that creates it. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}
