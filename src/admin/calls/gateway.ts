import type { Risk } from '../../appliance/api/row.ts';
import type { Area } from '../../appliance/api/table.ts';
import { assert } from '../../lib/check.ts';
import { codeOfStatus } from '../../appliance/answer.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type Approval, approvalOf } from './approval.ts';
import { confirm } from './confirmation.ts';
import { discover, type Discovered } from './discovery.ts';
import { type DryRunPlan, planCall } from './dry-run.ts';
import { forward } from './forward.ts';
import { type FreezeSwitch, refuseFrozen } from '../policy/freeze.ts';
import { inspectCall } from '../policy/guards/inspect.ts';
import { type Answers, blockingOf, type Overridden, overriddenBy, refuseFindings } from '../policy/guards/guard.ts';
import { steadyNow } from '../../lib/time.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { authorise, changes, isChange, refusePlanner, risksOf } from '../policy/policy.ts';
import type { Principals } from '../policy/principal.ts';
import { AdminProblem, upstreamProblem } from '../policy/problem.ts';
import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { daemonMayHang, isHarmless } from '../../appliance/harmless.ts';
import { type AdminAppliance, createReach, type Reach } from './reach.ts';
import type { Particulars, Recorder, Subject } from './recorder.ts';
import type { AdminAnswer, AdminRequest, PermittedCall } from './request.ts';
import { type BodyLimits, readBody, type RequestBody } from './request-body.ts';
import type { QueueRequest, QueueSlot, RequestQueue } from './request-queue.ts';

export interface GatewayParts {
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly operations: Operations;
  readonly principals: Pick<Principals, 'refuseUnlessInForce'>;
  readonly queue: RequestQueue;
  readonly recorder: Recorder;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** The risks whose calls need a second person; a reload may change them. */
  readonly approvals: () => { readonly requiredFor: readonly Risk[] };
  readonly bodyLimits: BodyLimits;
  readonly metrics: Pick<AdminMetrics, 'sent'>;
  /** Maximum time until an appliance begins its answer. */
  readonly timeoutMs: number;
  /** Called after each call that may have changed something, whatever its outcome. */
  readonly onChanged: (appliance: string, area: Area, farm: string | undefined) => void;
}

/** Sends calls to appliances, after policy, freeze, confirmation, guards and audit. */
export interface Gateway {
  /**
   * Makes the checks that need no appliance, and decides whether the call needs approval. Rejects
   * with an {@link AdminProblem}.
   */
  admit(request: AdminRequest): Promise<AdmittedCall>;
  /** Resolves to the appliance's answer; rejects with an {@link AdminProblem}. */
  send(admitted: AdmittedCall): Promise<AdminAnswer>;
  /** Makes a dry run: all steps but sending, with the refusals listed. */
  plan(request: AdminRequest): Promise<DryRunPlan>;
  /**
   * Returns the appliance of a name if the principal may know of it. Throws an
   * {@link AdminProblem}.
   */
  applianceFor(request: NamedAppliance): AdminAppliance;
  /** Returns a number that is another one after each change that was sent to the appliance. */
  changesOf(appliance: string): number;
  /** Asks an appliance for the parameters of a call. Rejects with an {@link AdminProblem}. */
  parametersOf(question: ParameterQuestion): Promise<ParameterList>;
}

interface ParameterQuestion {
  readonly appliance: string;
  readonly call: OperationCall;
  readonly subject: Subject;
  readonly signal: AbortSignal;
}

interface ParameterList extends Discovered {
  readonly operation: string;
  readonly route: string;
}

/** A call after its first checks, and whether it may be sent at once. */
export interface AdmittedCall extends PermittedCall {
  readonly approval: Approval;
}

type NamedAppliance = Pick<AdminRequest, 'principal' | 'appliance'>;

/** A slot of the queue that a request holds, with the connections for its calls. */
interface HeldSlot {
  readonly appliance: AdminAppliance;
  readonly slot: QueueSlot;
  readonly reach: Reach;
}

/** The parts, and how often a change began or ended, by appliance. */
interface CountingParts extends GatewayParts {
  readonly changeCounts: Map<string, number>;
  /** How many changes there were when a read that acts was not answered, by appliance and farm. */
  readonly unanswered: Map<string, number>;
}

export function createGateway(parts: GatewayParts): Gateway {
  const core = { ...parts, changeCounts: new Map<string, number>(), unanswered: new Map<string, number>() };
  return {
    applianceFor: (request) => resolve(parts, request),
    changesOf: (appliance) => core.changeCounts.get(appliance) ?? 0,
    admit: (request) => admit(core, request),
    send: (admitted) => sendAdmitted(core, admitted),
    plan: (request) => plan(core, request),
    parametersOf: (question) => parametersOf(parts, question),
  };
}

/**
 * Runs the first checks of one request. The listener has authenticated its caller
 * (admin/http/authenticate.ts). A step that refuses throws an {@link AdminProblem}.
 */
async function admit(gateway: GatewayParts, request: AdminRequest): Promise<AdmittedCall> {
  const permitted = await permit(gateway, request);
  const { call } = permitted;
  if (isChange(call)) refusePlanner(request.principal);
  refuseFrozen(gateway.freeze, call);
  confirm(request, call);
  const approval = approvalOf(gateway.approvals(), request, call);
  if (approval instanceof AdminProblem) throw approval;
  return { ...permitted, approval };
}

/** Runs the other steps. Each wait is followed by a check of what may have changed meanwhile. */
async function sendAdmitted(gateway: CountingParts, { approval, ...asked }: AdmittedCall): Promise<AdminAnswer> {
  const { request, body } = asked;
  assert(approval !== 'waits', 'a call that needs approval is asked for instead');
  const place = placeOf(gateway, asked);
  // Before the queue: a slow upload must not keep others from changing the appliance.
  await body?.receive(request.principal.name, place.signal);
  try {
    return await inQueue(gateway, request, place, async (held) => {
      const permitted = await withEffect(gateway, asked, held);
      const { call } = permitted;
      const overridden = {
        ...(await guard(gateway, permitted, held)),
        ...(approval === 'break_glass' ? { break_glass: true as const } : {}),
      };
      recheck(gateway, permitted, held);
      await recordIntent(gateway, permitted, overridden);
      if (isChange(call)) countChange(gateway, request);
      request.onSending(overridden);
      return await send(gateway, permitted, held);
    });
  } finally {
    body?.release();
  }
}

/** Runs the first steps, which a dry run has as well. */
async function permit(gateway: GatewayParts, request: AdminRequest): Promise<PermittedCall> {
  resolve(gateway, request);
  const call = gateway.operations.find(request.method, request.path);
  request.onCall(call);
  authorise(request.principal, call);
  return { request, call, body: await readBody(call.operation.row.body, request, gateway.bodyLimits) };
}

/** Finds the appliance. First: an unknown or denied one must not be parsed any further. */
function resolve({ appliances }: GatewayParts, { principal, appliance: name }: NamedAppliance): AdminAppliance {
  // Checked before the lookup: a caller without access must not learn whether the name exists.
  if (!principal.covers(name)) {
    throw new AdminProblem('appliance_denied', {
      detail: `The token of ${principal.name} does not cover an appliance of this name; nothing was sent.`,
    });
  }
  const appliance = appliances.get(name);
  if (appliance) return appliance;
  throw new AdminProblem('unknown_appliance', { detail: 'No appliance of this name is configured.' });
}

type Place = Pick<QueueRequest, 'kind' | 'signal' | 'urgent'>;

/** Returns the place of a request in the queue, and the signal that ends it before it is sent. */
function placeOf({ freeze }: GatewayParts, { request, call, body }: PermittedCall): Place {
  const { operation } = call;
  if (!isChange(call)) return { kind: 'read', signal: request.signal };
  // An admin may have to stop a farm in an emergency: that passes waiting changes.
  const isStop = operation.key === 'actOnFarm' && body?.fields.action === 'stop';
  return {
    kind: 'change',
    signal: AbortSignal.any([request.signal, freeze.signal]),
    urgent: isStop && request.principal.role === 'admin',
  };
}

type QueuedCaller = Pick<AdminRequest, 'principal' | 'appliance' | 'signal'>;

/** Runs the work in a slot of the queue, if the caller and the appliance are still there then. */
async function inQueue<Result>(
  gateway: GatewayParts,
  caller: QueuedCaller,
  place: Place,
  work: (held: HeldSlot) => Promise<Result>,
): Promise<Result> {
  const { queue, timeoutMs } = gateway;
  return await queue.run({ ...place, appliance: caller.appliance, principal: caller.principal.name }, async (slot) => {
    // Again: a reload may have replaced the appliance.
    const appliance = resolve(gateway, caller);
    const held = { appliance, slot, reach: createReach({ appliance, slot, timeoutMs, signal: caller.signal }) };
    recheckCaller(gateway, caller, held);
    return await work(held);
  });
}

function countChange({ changeCounts }: CountingParts, { appliance }: Pick<AdminRequest, 'appliance'>): void {
  changeCounts.set(appliance, (changeCounts.get(appliance) ?? 0) + 1);
}

/** The time after its plan in which a change is sent without reading everything again. */
const maxReadAgeMs = 1_000;

/**
 * Returns the replies that the plan of a change was just made from; undefined if a change was sent
 * to the appliance since, or if this one had to wait.
 */
function recentAnswers({ changeCounts }: CountingParts, { appliance, recent }: AdminRequest): Answers | undefined {
  if (!recent || recent.changes !== (changeCounts.get(appliance) ?? 0)) return undefined;
  return steadyNow() - recent.atMs < maxReadAgeMs ? recent.answers : undefined;
}

async function guard(
  gateway: CountingParts,
  { request, call, body }: PermittedCall,
  { reach }: HeldSlot,
): Promise<Overridden> {
  const findings = await inspectCall(call, body?.fields ?? {}, reach, recentAnswers(gateway, request));
  const isSeen = blockingOf(findings).every(({ guard: name }) => request.plan?.guards.has(name) ?? true);
  const overridden = isSeen ? overriddenBy(findings, request) : {};
  refuseFindings(findings, overridden);
  return overridden;
}

/**
 * Looks whether the farm of a read that acts on L4 farms is one, right before it is sent: then the
 * caller needs the right of its effect. Rejects with an {@link AdminProblem}.
 */
async function withEffect(gateway: CountingParts, permitted: PermittedCall, held: HeldSlot): Promise<PermittedCall> {
  const { request, call } = permitted;
  if (call.operation.row.acts?.on !== 'l4xnat' || (await isHarmlessNow(held, call))) return permitted;
  const acting = { ...call, acts: true } as const;
  request.onCall(acting);
  authorise(request.principal, acting);
  refusePlanner(request.principal);
  refuseFrozen(gateway.freeze, acting);
  const approval = approvalOf(gateway.approvals(), request, acting);
  if (approval instanceof AdminProblem) throw approval;
  refuseUnanswered(gateway, request, acting);
  return { ...permitted, call: acting };
}

/** Failures that the read itself would meet too. */
const unanswered: readonly FailureReason[] = [
  'timeout',
  'gateway_timeout',
  'connect',
  'tls',
  'cancelled',
  'unauthorized',
];

/** Reads which farms are L4 farms, with a call that reads files alone. */
async function isHarmlessNow({ reach, appliance }: HeldSlot, { params }: OperationCall): Promise<boolean> {
  try {
    return isHarmless(await reach.read('readFarmsSummary', {}), params.farmname ?? '');
  } catch (error) {
    if (error instanceof ApplianceError && !unanswered.includes(error.reason)) return false;
    throw upstreamProblem(error, appliance.name, 'none');
  }
}

/** Remembers a read that acts and was not answered: each further one leaves a process. */
function noteUnanswered(
  { unanswered, changeCounts }: CountingParts,
  { request: { appliance }, call: { acts, params } }: PermittedCall,
  { status, code }: Particulars,
): void {
  if (acts && (status === 504 || code === 'upstream_timeout'))
    unanswered.set(`${appliance} ${params.farmname}`, changeCounts.get(appliance) ?? 0);
}

function refuseUnanswered(
  { unanswered, changeCounts }: CountingParts,
  { appliance, force }: AdminRequest,
  { params: { farmname } }: OperationCall,
): void {
  if (force || unanswered.get(`${appliance} ${farmname}`) !== (changeCounts.get(appliance) ?? 0)) return;
  throw new AdminProblem('guarded', {
    detail: `The last read of this kind for ${farmname} was not answered: ${daemonMayHang}. Nothing was sent.`,
    refused: `Look at nftlb on ${appliance}. It may be read again after a change.`,
  });
}

/** Checks again what may have changed during a wait. */
function recheck(gateway: GatewayParts, { request, call }: PermittedCall, held: HeldSlot): void {
  refuseFrozen(gateway.freeze, call);
  recheckCaller(gateway, request, held);
  refuseUnplanned(request, call, held);
}

/** Refuses a call that the plan of its change does not have. */
function refuseUnplanned({ plan }: AdminRequest, { operation, path }: OperationCall, held: HeldSlot): void {
  if (!plan || !changes(operation.row.risk) || plan.urls.has(held.reach.urlOf(path))) return;
  throw new AdminProblem('plan_changed', {
    detail: `${held.appliance.name} is not the machine that the plan names; nothing was sent.`,
    remedy: 'Ask again: a reload has changed the url of the appliance.',
  });
}

function recheckCaller({ principals }: GatewayParts, { principal }: QueuedCaller, { reach }: HeldSlot): void {
  principals.refuseUnlessInForce(principal);
  reach.refuseGone();
}

async function recordIntent(
  { recorder }: GatewayParts,
  permitted: PermittedCall,
  overridden: Overridden,
): Promise<void> {
  const { body, request } = permitted;
  const { plan } = request;
  if (!isAudited(permitted)) return;
  await recorder.record(subjectOf(permitted), {
    event: 'intent',
    ...(body ? { body: body.masked } : {}),
    ...(body?.sha256 === undefined ? {} : { body_sha256: body.sha256 }),
    ...(plan ? { requested_by: plan.requestedBy } : {}),
    ...overridden,
  });
}

async function send(gateway: CountingParts, permitted: PermittedCall, held: HeldSlot): Promise<AdminAnswer> {
  const { bodyLimits, freeze, timeoutMs } = gateway;
  return await forward({
    ...permitted,
    ...held,
    spool: bodyLimits.spool,
    freeze,
    timeoutMs,
    beforeSending: () => recheck(gateway, permitted, held),
    onOver: (outcome) => recordOutcome(gateway, permitted, outcome),
  });
}

async function recordOutcome(gateway: CountingParts, permitted: PermittedCall, outcome: Particulars): Promise<void> {
  const { recorder, metrics, onChanged } = gateway;
  const { request, call, body } = permitted;
  const { appliance } = request;
  const { row, method, template: endpoint } = call.operation;
  if (isChange(call)) {
    countChange(gateway, request);
    noteUnanswered(gateway, permitted, outcome);
    metrics.sent({ appliance, endpoint, method, code: codeOfStatus(outcome.status ?? 0) });
    onChanged(appliance, row.area, farmOf(call, body));
  }
  if (isAudited(permitted)) await recorder.note(subjectOf(permitted), outcome);
}

/** Returns false for plain reads, of which the audit has nothing. */
function isAudited({ call }: PermittedCall): boolean {
  return risksOf(call).some((risk) => risk !== 'read');
}

function subjectOf({ request, call: { operation, path } }: PermittedCall): Subject {
  return { ...request, operation: operation.key, path };
}

/** Returns the farm of a call, also of one that creates it. */
function farmOf({ params }: OperationCall, body: RequestBody | undefined): string | undefined {
  const named = params.farmname ?? body?.fields.farmname;
  return typeof named === 'string' ? named : undefined;
}

async function plan(gateway: GatewayParts, request: AdminRequest): Promise<DryRunPlan> {
  const { recorder, freeze, approvals } = gateway;
  const permitted = await permit(gateway, request);
  const { call } = permitted;
  const { risk } = call.operation.row;
  return await inQueue(gateway, request, { kind: 'read', signal: request.signal }, async ({ reach }) => {
    // The dry run of a change asks the appliance for parameters with a method other than GET, so it
    // is audited first. One for a plan does not ask, and its change has records of its own.
    if (risk !== 'read' && !request.planning) await recorder.record(subjectOf(permitted), { event: 'dry_run' });
    return await planCall({
      ...permitted,
      reach,
      frozen: freeze.state !== undefined && changes(risk),
      approval: approvalOf(approvals(), request, call),
    });
  });
}

/**
 * Asks for the parameters of a call. This changes nothing, but it is a POST or a PUT: the caller
 * must be allowed the operation, the audit records it first, and a freeze refuses it.
 */
async function parametersOf(
  gateway: GatewayParts,
  { appliance, call, subject, signal }: ParameterQuestion,
): Promise<ParameterList> {
  const { freeze, recorder } = gateway;
  const { principal } = subject;
  authorise(principal, call);
  refuseFrozen(freeze, call);
  return await inQueue(gateway, { principal, appliance, signal }, { kind: 'read', signal }, async ({ reach }) => {
    refuseFrozen(freeze, call);
    await recorder.record(subject, { event: 'discovery' });
    const { key, row } = call.operation;
    return { operation: key, route: row.route, ...(await discover(reach, call)) };
  });
}
