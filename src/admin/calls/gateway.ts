// Sends calls of people to appliances, in this order: policy, freeze, confirmation, queue, guards,
// intent on disk, the call, its outcome on disk. It is the only way to an appliance for anything
// that may change it, also for the steps of a change. Calls run at the same time as far as the
// queue allows (request-queue.ts), and each wait is followed by a check of what may have changed
// meanwhile. The journal owns the records; the gateway only owns the count of changes by appliance.
// Read on in admin-call.ts, dry-run.ts, forward.ts and recorder.ts.

import type { Risk } from '../../appliance/api/row.ts';
import type { Area } from '../../appliance/api/table.ts';
import { codeOfStatus } from '../../appliance/response.ts';
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
import type { OperationCall } from '../policy/operation.ts';
import { authorise, isChange, isChangeRisk, refusePlanner, risksOf } from '../policy/policy.ts';
import type { Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminResponse, AdminCall } from './admin-call.ts';
import { actsNow, UnansweredReads } from './acting-reads.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type Clearance, clearanceOf, refuseUnconfirmedCall } from './approval.ts';
import { discover } from './discovery.ts';
import { type DryRun, dryRunCall } from './dry-run.ts';
import { forward } from './forward.ts';
import type { GatewayCall } from '../../history/authors.ts';
import { withoutSecretFields } from '../../history/writes.ts';
import type { BodyMemory } from './body-memory.ts';
import { type AdminAppliance, createSession, type ApplianceSession } from './session.ts';
import type { RequestBody } from './request-body.ts';
import type { EventFields, Recorder, Subject } from './recorder.ts';
import type { QueuedWork, QueueRequest, QueueSlot, RequestQueue } from './request-queue.ts';

export interface GatewayParts {
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly principals: Pick<Principals, 'refuseUnlessInForce'>;
  readonly queue: Pick<RequestQueue, 'run'>;
  readonly recorder: Pick<Recorder, 'recordOrRefuse' | 'recordBestEffort' | 'holdsSecret'>;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** The risks whose calls need a second person; a reload may change them. */
  readonly approvals: () => { readonly requiredFor: readonly Risk[] };
  readonly bodyLimits: { readonly memory: BodyMemory };
  readonly metrics: Pick<AdminMetrics, 'sent'>;
  /** Maximum time until an appliance begins its response. */
  readonly timeoutMs: number;
  /**
   * Called right before a call leaves that may change something; the function that it returns is
   * called with what became of it.
   */
  readonly onLeaving: (call: GatewayCall, farm: string) => (text: string, status: number | undefined) => void;
  /** Called after each call that may have changed something, whatever its outcome. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

type NamedAppliance = Pick<AdminCall, 'principal' | 'appliance'>;
type QueuedCaller = Pick<AdminCall, 'principal' | 'appliance' | 'signal'>;
type QueuePlace = Pick<QueueRequest, 'kind' | 'signal' | 'urgent' | 'what'>;

/** A slot of the queue that a request holds, with the connections for its calls. */
interface HeldSlot {
  readonly appliance: AdminAppliance;
  readonly slot: QueueSlot;
  readonly session: ApplianceSession;
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
  readonly #unanswered = new UnansweredReads((appliance) => this.changeCountOf(appliance));

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** Returns a number that is another one after each change that was sent to the appliance. */
  changeCountOf(appliance: string): number {
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
  admit(call: AdminCall): Clearance {
    const { target, principal } = call;
    this.#permit(call);
    if (isChange(target)) refusePlanner(principal);
    refuseFrozen(this.#parts.freeze, target);
    refuseUnconfirmedCall(call);
    return this.#clearanceOf(call);
  }

  /**
   * Makes the other checks and sends the call; resolves to the appliance's response. Each wait is
   * followed by a check of what may have changed meanwhile. `onHeld` is called once the call has its
   * slot, before its guards.
   */
  async send(
    call: AdminCall,
    clearance: Exclude<Clearance, 'needs_approval'>,
    onHeld?: () => Promise<void>,
  ): Promise<AdminResponse> {
    const { body, principal } = call;
    const place = this.#placeOf(call);
    // Before the queue: a slow upload must not keep others from changing the appliance.
    await body?.receive(principal.name, place.signal);
    try {
      return await this.#inQueue(call, place, async (held) => {
        await this.#markEffect(call, held);
        await onHeld?.();
        const overridden = {
          ...(await this.#guard(call, held)),
          ...(clearance === 'break_glass' ? { break_glass: true as const } : {}),
        };
        this.#recheck(call, held);
        await this.#recordIntent(call, overridden);
        if (isChange(call.target)) this.#countChange(call);
        Object.assign(call, { stage: 'recorded', overridden });
        return await this.#forward(call, held);
      });
    } finally {
      body?.release();
    }
  }

  /** Makes a dry run: all steps but sending, with the refusals listed. */
  async dryRun(call: AdminCall): Promise<DryRun> {
    const { recorder, freeze, approvals } = this.#parts;
    this.#permit(call);
    const { risk } = call.target.operation.row;
    const place = { kind: 'read', signal: call.signal, what: this.#workOf(call, 'dry run') } as const;
    return await this.#inQueue(call, place, async ({ session }) => {
      // The dry run of a change asks the appliance for parameters with a method other than GET, so
      // it is audited first. One for a plan does not ask, and its change has records of its own.
      if (risk !== 'read' && !call.planReplies) await recorder.recordOrRefuse(subjectOf(call), { event: 'dry_run' });
      return await dryRunCall({
        call,
        session,
        frozen: freeze.state !== undefined && isChangeRisk(risk),
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
    caller: QueuedCaller & Pick<Subject, 'id' | 'token' | 'address' | 'reason'>,
  ) {
    const { freeze, recorder } = this.#parts;
    const { signal } = caller;
    const { key, row, method } = target.operation;
    authorise(caller.principal, target);
    refuseFrozen(freeze, target);
    const what = { noun: 'question for parameters', object: `of ${key}` };
    return await this.#inQueue(caller, { kind: 'read', signal, what }, async ({ session }) => {
      refuseFrozen(freeze, target);
      await recorder.recordOrRefuse({ ...caller, operation: key, method, path: target.path }, { event: 'discovery' });
      return { operation: key, route: row.route, ...(await discover(session, target)) };
    });
  }

  /** Makes the first checks, which a dry run has as well. */
  #permit(call: AdminCall): void {
    this.applianceFor(call);
    authorise(call.principal, call.target);
  }

  #clearanceOf(call: AdminCall): Clearance {
    const clearance = clearanceOf(this.#parts.approvals(), call);
    if (clearance instanceof AdminProblem) throw clearance;
    return clearance;
  }

  /** Returns the place of a call in the queue, and the signal that ends it before it is sent. */
  #placeOf(call: AdminCall): QueuePlace {
    const { target, body, signal, principal } = call;
    if (!isChange(target)) return { kind: 'read', signal, what: this.#workOf(call, 'read') };
    // An admin may have to stop a farm in an emergency: that passes waiting changes.
    const isStop = target.operation.key === 'actOnFarm' && body?.fields.action === 'stop';
    return {
      kind: 'change',
      what: this.#workOf(call, 'change'),
      signal: AbortSignal.any([signal, this.#parts.freeze.signal]),
      urgent: isStop && principal.role === 'admin',
    };
  }

  #workOf({ token, target, body }: AdminCall, noun: string): QueuedWork {
    const farm = this.#parts.recorder.holdsSecret(target.params, token) ? undefined : farmOf(target, body);
    return { noun, object: farm === undefined ? `(${target.operation.key})` : `of farm ${oneLine(farm, 100)}` };
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
      const held = { appliance, slot, session: createSession({ appliance, slot, timeoutMs, signal }) };
      this.#recheckCaller(caller, held);
      return await work(held);
    });
  }

  /**
   * Looks whether the farm of a read that acts on L4 farms is one, right before it is sent: then
   * the caller needs the right of its effect.
   */
  async #markEffect(call: AdminCall, { session, appliance }: HeldSlot): Promise<void> {
    if (!(await actsNow(call.target, session, appliance.name))) return;
    const { principal } = call;
    call.target = { ...call.target, acts: true };
    authorise(principal, call.target);
    refusePlanner(principal);
    refuseFrozen(this.#parts.freeze, call.target);
    this.#clearanceOf(call);
    this.#unanswered.refuse(call);
  }

  async #guard(call: AdminCall, { session }: HeldSlot): Promise<Overridden> {
    const { target, body, plan } = call;
    const findings = await inspectCall(target, body?.fields ?? {}, session, this.#recentReplies(call));
    const isSeen = blockingOf(findings).every(({ guard: name }) => plan?.guards.has(name) ?? true);
    const overridden = isSeen ? overriddenBy(findings, call) : {};
    refuseFindings(findings, overridden);
    return overridden;
  }

  /**
   * Returns the replies that the plan of a change was just made from; undefined if a change was
   * sent to the appliance since, or if this one had to wait.
   */
  #recentReplies({ appliance, plan }: AdminCall): KnownReplies | undefined {
    const recent = plan?.recent;
    if (!recent || recent.changeCount !== this.changeCountOf(appliance)) return undefined;
    return steadyNow() - recent.atMs < maxReadAgeMs ? recent.replies : undefined;
  }

  /** Checks again what may have changed during a wait. */
  #recheck(call: AdminCall, held: HeldSlot): void {
    refuseFrozen(this.#parts.freeze, call.target);
    this.#recheckCaller(call, held);
    refuseUnplanned(call, held);
  }

  #recheckCaller({ principal }: QueuedCaller, { session }: HeldSlot): void {
    this.#parts.principals.refuseUnlessInForce(principal);
    session.refuseGone();
  }

  async #recordIntent(call: AdminCall, overridden: Overridden): Promise<void> {
    const { body, plan } = call;
    if (!isAudited(call)) return;
    await this.#parts.recorder.recordOrRefuse(subjectOf(call), {
      event: 'intent',
      ...(body ? { body: body.masked } : {}),
      ...(body?.sha256 === undefined ? {} : { body_sha256: body.sha256 }),
      ...(plan ? { requested_by: plan.requestedBy } : {}),
      ...overridden,
    });
  }

  async #forward(call: AdminCall, held: HeldSlot): Promise<AdminResponse> {
    const { bodyLimits, freeze, timeoutMs, onLeaving } = this.#parts;
    let reportOutcome: ReturnType<GatewayParts['onLeaving']> | undefined;
    return await forward({
      call,
      ...held,
      memory: bodyLimits.memory,
      freeze,
      timeoutMs: Math.min(call.limitMs ?? timeoutMs, timeoutMs),
      beforeSending: () => {
        this.#recheck(call, held);
        if (isChange(call.target)) reportOutcome = onLeaving(...this.#historyCallOf(call));
      },
      onOver: async (outcome) => {
        const { status } = outcome;
        reportOutcome?.(`${whatWasDone(call)}: ${status ? `HTTP ${status}` : 'no answer'}`, status ?? undefined);
        await this.#recordOutcome(call, outcome);
      },
    });
  }

  async #recordOutcome(call: AdminCall, outcome: EventFields): Promise<void> {
    const { recorder, metrics, onChanged } = this.#parts;
    const { appliance, target, body } = call;
    const { row, method, template: endpoint } = target.operation;
    if (isChange(target)) {
      this.#countChange(call);
      this.#unanswered.note(call, outcome);
      metrics.sent({ appliance, endpoint, method, code: codeOfStatus(outcome.status ?? 0) });
      onChanged(appliance, row.area, farmOf(target, body));
    }
    if (isAudited(call)) await recorder.recordBestEffort(subjectOf(call), outcome);
  }

  /**
   * Describes what a call may change; of its body, the names of fields, and the texts of settings
   * without secrets. A call that names a secret is not an author of anything.
   */
  #historyCallOf({
    id,
    appliance,
    principal,
    plan,
    token,
    target,
    body,
  }: AdminCall): readonly [call: GatewayCall, farm: string] {
    const fields = withoutSecretFields(body?.fields ?? {});
    const approved = plan?.approvedBy === undefined ? '' : `, approved by ${plan.approvedBy}`;
    const by = plan ? `change ${id} by ${plan.requestedBy}${approved}` : `call ${id} by ${principal.name}`;
    if (this.#parts.recorder.holdsSecret([target.params, fields], token))
      return [{ appliance, route: '', params: {}, fields: {}, by }, ''];
    return [
      { appliance, route: target.operation.row.route, params: target.params, fields, by },
      farmOf(target, body) ?? '',
    ];
  }

  #countChange({ appliance }: Pick<AdminCall, 'appliance'>): void {
    this.#changeCounts.set(appliance, this.changeCountOf(appliance) + 1);
  }
}

function refuseUnplanned({ plan, target: { operation, path } }: AdminCall, held: HeldSlot): void {
  if (!plan || !isChangeRisk(operation.row.risk) || plan.urls.has(held.session.urlOf(path))) return;
  throw new AdminProblem('plan_changed', {
    detail: `${held.appliance.name} is not the machine that the plan names; nothing was sent.`,
    remedy: 'Ask again: a reload has changed the url of the appliance.',
  });
}

/** Returns false for plain reads, of which the audit has nothing. */
function isAudited({ target }: AdminCall): boolean {
  return risksOf(target).some((risk) => risk !== 'read');
}

function subjectOf(call: AdminCall): Subject {
  const { operation, path } = call.target;
  return { ...call, operation: operation.key, method: operation.method, path };
}

/** Says what a call does. Its body may have a secret, so only known actions are named. */
function whatWasDone({ target, body }: AdminCall): string {
  const action = body?.fields.action;
  const isKnown = typeof action === 'string' && /^(?:start|stop|restart|up|down|maintenance|apply)$/.test(action);
  return `${target.operation.row.summary}${isKnown ? ` (${action})` : ''}`;
}

/** Returns the farm of a call, also of one that creates it. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}
