import { randomBytes } from 'node:crypto';
import type { AuditJournal } from '../audit/journal.ts';
import { type FreezeSwitch, frozenProblem } from '../gateway/freeze.ts';
import type { WaitingCall } from '../gateway/approval.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AdminAnswer } from '../gateway/request.ts';
import type { Operations } from '../gateway/operation.ts';
import { authorise, may } from '../gateway/policy.ts';
import type { Principal } from '../gateway/principal.ts';
import { AdminProblem } from '../gateway/problem.ts';
import type { Recorder } from '../gateway/recorder.ts';
import type { Content } from '../recipes/calls.ts';
import type { Recipe, Step } from '../recipes/recipe.ts';
import {
  type AlertSource,
  type ChangePlan,
  type ChangeRequest,
  type Decision,
  isOver,
  type PlannedStep,
  type RequestState,
  type SealedParts,
} from './change-request.ts';
import { type Ending, endingOf, execute } from './execution.ts';
import type { Secret } from '../lib/secret.ts';
import { oneLine } from '../lib/text.ts';
import { type Caller, createInProcessCalls } from './in-process.ts';
import { type Change, prepare, type PreparedChange, refuseRefused, titleOf } from './plan.ts';
import {
  notApprover,
  otherDigest,
  sameObject,
  ownRequest,
  planChanged,
  toProblem,
  unknownRequest,
  alreadyOver,
} from './refusals.ts';
import { type Actor, type Entry, openRequestBook, type RequestBook, type RequestBookParts } from './request-book.ts';
import { type Asked, readChange } from './read-change.ts';
import type { StoredRequest } from './stored-request.ts';

export interface ChangeRequestsParts extends RequestBookParts {
  readonly gateway: Pick<Gateway, 'handle' | 'applianceFor'>;
  readonly operations: Operations;
  /** The recipes that may be asked for. */
  readonly recipes: readonly Recipe[];
  readonly recorder: Pick<Recorder, 'record' | 'scrubbed'>;
  readonly journal: Pick<AuditJournal, 'append' | 'query'>;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
  /** How long a request waits, and whether people may approve their own. */
  readonly settings: () => { readonly ttlMs: number; readonly selfApproval: boolean };
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface AskedChange {
  readonly appliance: string;
  readonly change: Change;
  readonly reason: string | undefined;
  readonly force: boolean;
  readonly alert?: AlertSource;
}

/** A decision on the change request of an id. */
export interface DecisionOn {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
}

/**
 * Keeps change requests from their beginning to their end; each is carried out at most once. Every
 * refusal is an {@link AdminProblem}.
 */
export interface ChangeRequests {
  /** Asks for what the body of a request describes. */
  askFor(asked: Asked, asker: Actor): Promise<ChangeRequest>;
  /** Asks for a call that needs approval, in the place of sending it. */
  askInstead(waiting: WaitingCall): Promise<AdminAnswer>;
  /** Plans a change and stores it, to wait for approval. */
  ask(asked: AskedChange, asker: Actor): Promise<ChangeRequest>;
  /** Returns those that the principal may see, the newest first. */
  list(principal: Principal): readonly ChangeRequest[];
  get(id: string, principal: Principal): ChangeRequest;
  /**
   * Plans the change again and compares; then starts it, and resolves when the approval is on disk.
   */
  approve(decision: DecisionOn & { readonly digest: string }): Promise<ChangeRequest>;
  deny(decision: DecisionOn): Promise<ChangeRequest>;
  cancel(decision: DecisionOn): Promise<ChangeRequest>;
  /** Ends a proposal whose alert has ended, if nobody decides on it. */
  withdraw(id: string): Promise<void>;
  /** All requests, for those who propose some. */
  readonly all: readonly ChangeRequest[];
  /**
   * Ends what has waited too long, finds out what became of requests that a crash interrupted, and
   * updates the metrics.
   */
  sweep(): Promise<void>;
  /** Stops waiting for what is under way; the next start finds out what became of it. */
  close(): Promise<void>;
}

const maxOpenPerPrincipal = 20;

interface Core extends ChangeRequestsParts {
  readonly book: RequestBook;
  readonly stopping: AbortController;
  readonly underWay: Set<Promise<void>>;
  /** The callers whose changes are being planned. */
  readonly asking: Set<Actor>;
}

/** Opens the folder of requests. */
export async function openChangeRequests(parts: ChangeRequestsParts): Promise<ChangeRequests> {
  const book = await openRequestBook(parts);
  const core: Core = { ...parts, book, stopping: new AbortController(), underWay: new Set(), asking: new Set() };
  return {
    get all() {
      return book.entries.map(({ stored }) => stored.request);
    },
    ask: (asked, asker) => ask(core, asked, asker),
    askInstead: (waiting) => askInstead(core, waiting),
    askFor: (asked, asker) =>
      ask(core, { ...asked, change: readChange(asked, core), force: asked.force ?? false }, asker),
    list: (principal) =>
      book.entries
        .map(({ stored }) => stored.request)
        .filter((request) => maySee(core, principal, request))
        .toSorted((a, b) => (a.created < b.created ? 1 : -1)),
    get: (id, principal) => shownTo(core, principal, entryFor(core, id, principal).stored.request),
    approve: (decision) => approve(core, decision),
    deny: (decision) => deny(core, decision),
    cancel: (decision) => cancel(core, decision),
    withdraw: (id) => withdraw(core, id),
    sweep: () => sweep(core),
    async close() {
      core.stopping.abort();
      await Promise.allSettled(core.underWay);
    },
  };
}

async function ask(core: Core, asked: AskedChange, asker: Actor): Promise<ChangeRequest> {
  const { principal } = asker;
  core.gateway.applianceFor({ principal, appliance: asked.appliance });
  if (core.freeze.state) throw frozenProblem(core.freeze.state);
  refuseTooMany(core, principal);
  core.asking.add(asker);
  try {
    return await planAndAdd(core, asked, asker);
  } finally {
    core.asking.delete(asker);
  }
}

async function planAndAdd(
  core: Core,
  { appliance, change, reason, force, alert }: AskedChange,
  asker: Actor,
): Promise<ChangeRequest> {
  const { principal, token } = asker;
  const now = core.now();
  const id = newId();
  const salt = randomBytes(32).toString('hex');
  const parts = { id, appliance, change, reason, force, salt, askedAtMs: now };
  const { plan, digest, steps } = await prepareAs(asker, core, parts);
  if (!principal.plansOnly) authoriseAll(core, principal, steps);
  const request: ChangeRequest = {
    id,
    state: alert ? 'proposed' : 'pending',
    appliance,
    title: titleOf(change),
    ...('recipe' in change ? { recipe: change.recipe.name } : { operation: change.operation }),
    parameters: change.parameters,
    force,
    requested_by: principal.name,
    reason: said(core, reason, token),
    alert: alert ? { ...alert, summary: said(core, alert.summary ?? undefined, token) } : null,
    created: new Date(now).toISOString(),
    expires: new Date(now + core.settings().ttlMs).toISOString(),
    digest,
    plan,
    decision: null,
    outcome: null,
  };
  const content = 'content' in change ? change.content : undefined;
  const sealed = { person: principal.person, salt, ...(content && { content: sealContent(content) }) };
  await core.book.add({ request, sealed }, asker);
  return request;
}

async function askInstead(core: Core, { request, call, body }: WaitingCall): Promise<AdminAnswer> {
  const { appliance, reason, force } = request;
  const content = body?.inMemory && { content: { type: body.contentType, bytes: body.inMemory } };
  const change = { operation: call.operation.key, parameters: call.params, ...content };
  const made = await ask(core, { appliance, change, reason, force }, request);
  const headers = { 'content-type': 'application/json', location: `/requests/${made.id}` };
  return { status: 202, headers, body: Buffer.from(JSON.stringify(made)) };
}

function refuseTooMany({ book, asking }: Core, { name }: Principal): void {
  const requests = book.entries.map(({ stored }) => stored.request);
  const open =
    requests.filter((request) => request.requested_by === name && !isOver(request.state)).length +
    [...asking].filter(({ principal }) => principal.name === name).length;
  if (open < maxOpenPerPrincipal) return;
  throw new AdminProblem('too_many_requests', {
    detail: `${name} has ${open} change requests open; nothing was sent.`,
    remedy: 'Cancel those that are not wanted any more, or wait until they are decided.',
  });
}

interface Preparing extends Omit<AskedChange, 'alert'> {
  readonly id: string;
  readonly salt: string;
  readonly askedAtMs: number;
}

/** Plans with the rights of the actor: nobody learns more than its token may read. */
async function prepareAs(
  actor: Actor,
  core: Core,
  { id, appliance, change, askedAtMs, ...parts }: Preparing,
): Promise<PreparedChange> {
  const caller: Caller = { ...actor, id };
  const context = {
    calls: createInProcessCalls(core, appliance, caller),
    now: core.now,
    askedAtMs,
    // While it is carried out, nobody who asked is there any more.
    sleep: (ms: number) => core.sleep(ms, core.stopping.signal),
    progress: () => undefined,
  };
  try {
    const prepared = await prepare(change, { context, ...parts });
    // Again: the appliance may have taken its time.
    if (core.freeze.state) throw frozenProblem(core.freeze.state);
    refuseRefused(prepared.plan);
    return prepared;
  } catch (error) {
    throw toProblem(error);
  }
}

function authoriseAll({ operations }: Core, principal: Principal, steps: readonly Step[]): void {
  for (const { write } of steps) {
    const operation = write && operations.named(write.key);
    const call = operation && operations.call(operation, write.params);
    if (call) authorise(principal, call);
  }
}

/** Returns true for its requester, and for a token that may do the same. */
function maySee({ operations }: Core, principal: Principal, request: ChangeRequest): boolean {
  if (!principal.covers(request.appliance)) return false;
  if (principal.name === request.requested_by) return true;
  return request.plan.steps.every(({ call }) => {
    const operation = call && operations.named(call.operation);
    return !operation || may(principal, operation.key, operation.row).allowed;
  });
}

/** Leaves out objects that the principal may not read itself: an approver may have planned it. */
function shownTo({ operations }: Core, principal: Principal, request: ChangeRequest): ChangeRequest {
  const mayRead = ({ current }: PlannedStep): boolean => {
    const operation = current && operations.named(current.operation);
    return operation !== undefined && operation !== null && may(principal, operation.key, operation.row).allowed;
  };
  const steps = request.plan.steps.map((step) => (mayRead(step) ? step : { ...step, current: null }));
  return { ...request, plan: { ...request.plan, steps } };
}

function entryFor(core: Core, id: string, principal: Principal): Entry {
  const entry = core.book.find(id);
  if (!entry || !maySee(core, principal, entry.stored.request)) throw unknownRequest();
  return entry;
}

async function approve(
  core: Core,
  { id, digest, reason, actor }: DecisionOn & { readonly digest: string },
): Promise<ChangeRequest> {
  const { book, freeze } = core;
  const { principal } = actor;
  const entry = entryFor(core, id, principal);
  return await book.deciding(entry, async () => {
    requireApprover(core, entry, principal);
    if (digest !== entry.stored.request.digest) throw otherDigest();
    if (freeze.state) throw frozenProblem(freeze.state);
    // The approver may leave once it is approved; the exporter goes on.
    const approver = { ...actor, signal: core.stopping.signal };
    const { steps, ...plan } = await prepareAgain(core, entry.stored, approver);
    // The appliance may have taken its time.
    await book.requireWaiting(entry);
    authoriseAll(core, principal, steps);
    authoriseAsker(core, entry, steps);
    if (plan.digest !== digest) {
      await book.replan(entry, plan);
      throw planChanged();
    }
    refuseSameObject(core, plan);
    const decision = decisionOf(core, 'approved', { reason, actor });
    entry.isExecuting = true;
    try {
      const approved = await book.move(entry, 'approved', { decision, actor });
      start(core, entry, steps, approver);
      return approved;
    } catch (error) {
      entry.isExecuting = false;
      throw error;
    }
  });
}

/** Refuses what its requester may not do any more: a reload may have changed the token. */
function authoriseAsker(core: Core, { stored: { request } }: Entry, steps: readonly Step[]): void {
  const asker = core.principals.inForce(request.requested_by);
  // An Alertmanager may do nothing itself.
  if (!asker || asker.role === 'alertmanager') return;
  core.gateway.applianceFor({ principal: asker, appliance: request.appliance });
  authoriseAll(core, asker, steps);
}

/** Refuses a plan that was made while another request changes the same object. */
function refuseSameObject({ book }: Core, { plan }: Pick<PreparedChange, 'plan'>): void {
  const urls = urlsOf(plan);
  const other = book.entries.find(
    ({ isExecuting, stored }) => isExecuting && [...urlsOf(stored.request.plan)].some((url) => urls.has(url)),
  );
  if (other) throw sameObject(other.stored.request);
}

function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call }) => call?.url ?? []));
}

async function prepareAgain(core: Core, { request, sealed }: StoredRequest, approver: Actor): Promise<PreparedChange> {
  const { id, appliance, force, reason, created } = request;
  const change = changeOf(core, { request, sealed });
  const asked = { id, appliance, change, force, reason: reason ?? undefined, askedAtMs: Date.parse(created) };
  return await prepareAs(approver, core, { ...asked, salt: sealed?.salt ?? '' });
}

/** Returns the change that a stored request asks for. */
function changeOf({ recipes }: Core, { request, sealed }: StoredRequest): Change {
  const { operation, recipe: name, parameters } = request;
  const recipe = recipes.find((each) => each.name === name);
  if (recipe) return { recipe, parameters };
  if (operation === undefined) throw alreadyOver(request, `this release has no recipe ${name}`);
  const content = sealed?.content;
  if (!content) return { operation, parameters };
  return { operation, parameters, content: { type: content.type, bytes: Buffer.from(content.base64, 'base64') } };
}

function sealContent({ type, bytes }: Content): NonNullable<SealedParts['content']> {
  return { type, base64: bytes.toString('base64') };
}

function requireApprover({ settings, principals }: Core, { stored }: Entry, principal: Principal): void {
  if (!principal.approver) throw notApprover(principal, 'approve or deny');
  const { requested_by: name } = stored.request;
  // Both the person of then and that of now: a reload may have put the option right.
  const isOwn = [stored.sealed?.person, principals.inForce(name)?.person].includes(principal.person);
  if (isOwn && !settings().selfApproval) throw ownRequest(principal);
}

function decisionOf(
  core: Core,
  what: Decision['what'],
  { reason, actor: { principal, token } }: Pick<DecisionOn, 'reason' | 'actor'>,
): Omit<Decision, 'at'> {
  return { by: principal.name, what, reason: said(core, reason, token) };
}

const maxReasonLength = 500;

/** Returns what a caller says, in one line and without secrets. */
function said({ recorder }: Core, text: string | undefined, token: Secret): string | null {
  return text === undefined ? null : oneLine(recorder.scrubbed(text, token), maxReasonLength);
}

/** Begins to carry out an approved request, which nobody waits for. */
function start(core: Core, entry: Entry, steps: readonly Step[], approver: Actor): void {
  const running = carryOut(core, entry, steps, approver)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the audit what became of it.
      core.log.error({ err: error, request: entry.stored.request.id }, 'change request broke off');
    })
    .finally(() => {
      entry.isExecuting = false;
      core.underWay.delete(running);
    });
  core.underWay.add(running);
}

async function carryOut(core: Core, entry: Entry, steps: readonly Step[], approver: Actor): Promise<void> {
  const { id, appliance, requested_by: requestedBy, reason, title, force, plan } = entry.stored.request;
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  const guards = new Set(blocking.map(({ guard }) => guard));
  await core.book.move(entry, 'executing');
  let isSent = false;
  const calls = createInProcessCalls(
    core,
    appliance,
    { ...approver, id, approved: { requestedBy, urls: urlsOf(plan), guards } },
    () => {
      isSent = true;
    },
  );
  const ending = await execute(steps, {
    async send(write) {
      isSent = false;
      await calls.write(write, { force, reason: reason ?? title });
    },
    isSent: () => isSent,
  });
  // After a stop of the exporter, the next start finds out what became of it.
  if (approver.signal.aborted && ending.state !== 'done') return;
  entry.ending = ending;
  await end(core, entry, ending);
}

async function end({ book }: Core, entry: Entry, { state, ...outcome }: Ending): Promise<void> {
  await book.move(entry, state, { outcome });
}

async function deny(core: Core, decision: DecisionOn): Promise<ChangeRequest> {
  const { actor } = decision;
  const entry = entryFor(core, decision.id, actor.principal);
  return await core.book.deciding(entry, async () => {
    requireApprover(core, entry, actor.principal);
    return await core.book.move(entry, 'denied', { decision: decisionOf(core, 'denied', decision), actor });
  });
}

async function cancel(core: Core, decision: DecisionOn): Promise<ChangeRequest> {
  const { actor } = decision;
  const { name, role } = actor.principal;
  const entry = entryFor(core, decision.id, actor.principal);
  return await core.book.deciding(entry, async () => {
    if (name !== entry.stored.request.requested_by && role !== 'admin') throw notApprover(actor.principal, 'cancel');
    return await core.book.move(entry, 'cancelled', { decision: decisionOf(core, 'cancelled', decision), actor });
  });
}

async function withdraw({ book }: Core, id: string): Promise<void> {
  const entry = book.find(id);
  if (!entry || entry.isDeciding || entry.stored.request.state !== 'proposed') return;
  const decision = { by: '-', what: 'withdrawn', reason: 'The alert has ended.' } as const;
  await book.deciding(entry, () => book.move(entry, 'withdrawn', { decision }));
}

async function sweep(core: Core): Promise<void> {
  for (const entry of core.book.entries) {
    if (entry.isDeciding || entry.isExecuting) continue;
    entry.isDeciding = true;
    try {
      await core.book.endIfOverdue(entry);
      await settle(core, entry);
    } catch (error) {
      // Such as an audit that another exporter writes: the next sweep tries again.
      core.log.debug({ err: error, request: entry.stored.request.id }, 'change request cannot be ended yet');
    } finally {
      entry.isDeciding = false;
    }
  }
  core.book.updateMetrics();
}

/** Ends a request that a stopped exporter, or a full disk, left behind. */
async function settle(core: Core, entry: Entry): Promise<void> {
  if (!isLeftBehind(entry.stored.request.state)) return;
  await core.book.refresh(entry);
  const { id, state, plan } = entry.stored.request;
  if (!isLeftBehind(state)) return;
  const records = entry.ending ? [] : await core.journal.query({ limit: maxRecords, request: id });
  await end(core, entry, entry.ending ?? endingOf(state, plan, records));
}

function isLeftBehind(state: RequestState): state is 'approved' | 'executing' {
  return state === 'approved' || state === 'executing';
}

/** More than the records of any request. */
const maxRecords = 1_000;

/** Returns an id that is easy to read out. */
function newId(): string {
  return `cr-${[...randomBytes(10)].map((byte) => letters[byte % letters.length]).join('')}`;
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';
