import type { Logger } from 'pino';
import type { AuditJournal } from '../audit/journal.ts';
import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import type { Principal, Principals } from '../gateway/principal.ts';
import type { Recorder } from '../gateway/recorder.ts';
import type { Secret } from '../lib/secret.ts';
import {
  type ChangeRequest,
  type Decision,
  isOver,
  isWaiting,
  nextStates,
  openStates,
  type Outcome,
  type RequestState,
} from './change-request.ts';
import type { Ending } from './execution.ts';
import { alreadyOver, notStored } from './refusals.ts';
import type { RequestFolder } from './request-folder.ts';
import type { StoredRequest } from './stored-request.ts';

/** The person or program that asks or decides. */
export interface Actor {
  readonly principal: Principal;
  readonly token: Secret;
  readonly signal: AbortSignal;
}

/** A request in memory; its file on disk says the same. */
export interface Entry {
  stored: StoredRequest;
  /** True while somebody decides on it: others are refused meanwhile. */
  isDeciding: boolean;
  /** True while this process carries it out. */
  isExecuting: boolean;
  /** How it ended, until that is stored. */
  ending?: Ending;
}

/** The details of a new state. */
export interface Move {
  readonly decision?: Omit<Decision, 'at'>;
  readonly outcome?: Omit<Outcome, 'at'>;
  /** Undefined if the exporter itself moves it. */
  readonly actor?: Actor;
}

/** All change requests, in memory and on disk, and the only place where their states change. */
export interface RequestBook {
  readonly entries: readonly Entry[];
  find(id: string): Entry | undefined;
  /** Adds a request, which is on disk and in the audit when this resolves. */
  add(stored: StoredRequest, actor: Actor): Promise<void>;
  /** Replaces the plan of a request that waits. */
  replan(entry: Entry, plan: Pick<ChangeRequest, 'plan' | 'digest'>): Promise<void>;
  /**
   * Moves a request to its next state: first in the audit, then on disk. Rejects, and changes
   * nothing, if one of them cannot be written.
   */
  move(entry: Entry, state: RequestState, what?: Move): Promise<ChangeRequest>;
  /** Lets one decision at a time be made on a request that waits; refuses all others. */
  deciding(entry: Entry, decide: () => Promise<ChangeRequest>): Promise<ChangeRequest>;
  /** Rejects for a request that does not wait, or not any more: its time may just have ended. */
  requireWaiting(entry: Entry): Promise<void>;
  /** Ends a waiting request whose time is over, or whose token is not in force any more. */
  endIfOverdue(entry: Entry): Promise<void>;
  /** Reads its file again: another exporter may have written it, if both have the same audit. */
  refresh(entry: Entry): Promise<void>;
  updateMetrics(): void;
}

export interface RequestBookParts {
  readonly folder: RequestFolder;
  readonly principals: Pick<Principals, 'inForce'>;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly journal: Pick<AuditJournal, 'append'>;
  readonly metrics: Pick<AdminMetrics, 'changeRequests' | 'changeRequestEnded'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Requests that are over are kept for those who look later. */
const maxOver = 200;

export async function openRequestBook(parts: RequestBookParts): Promise<RequestBook> {
  const entries = new Map<string, Entry>();
  const { stored, unreadable } = await parts.folder.loadAll();
  for (const each of stored) entries.set(each.request.id, { stored: each, isDeciding: false, isExecuting: false });
  for (const file of unreadable) parts.log.error({ file }, 'change request cannot be read');
  const core = { ...parts, entries };
  updateMetrics(core);
  return {
    get entries() {
      return [...entries.values()];
    },
    find: (id) => entries.get(id),
    add: (added, actor) => save(core, added, () => record(core, added.request, actor)),
    replan: ({ stored: { request, sealed } }, plan) =>
      save(core, { request: { ...request, ...plan }, sealed }, () => Promise.resolve()),
    move: (entry, state, what = {}) => move(core, entry, state, what),
    deciding: (entry, decide) => deciding(core, entry, decide),
    requireWaiting: (entry) => requireWaiting(core, entry),
    endIfOverdue: (entry) => endIfOverdue(core, entry),
    refresh: (entry) => refresh(core, entry),
    updateMetrics: () => updateMetrics(core),
  };
}

interface Core extends RequestBookParts {
  readonly entries: Map<string, Entry>;
}

async function move(core: Core, entry: Entry, state: RequestState, what: Move): Promise<ChangeRequest> {
  const { request, sealed } = entry.stored;
  if (!nextStates[request.state].includes(state)) throw alreadyOver(request, `it is ${request.state}`);
  const at = new Date(core.now()).toISOString();
  const next = {
    ...(isOver(state) ? withoutObjects(request) : request),
    state,
    ...(what.decision && { decision: { ...what.decision, at } }),
    ...(what.outcome && { outcome: { ...what.outcome, at } }),
  };
  const stored = { request: next, sealed: isOver(state) ? null : sealed };
  await save(core, stored, () => record(core, next, what.actor));
  if (isOver(state)) core.metrics.changeRequestEnded(state);
  return next;
}

/** Leaves out the objects of the plan: they are large, and change. */
function withoutObjects(request: ChangeRequest): ChangeRequest {
  const { plan } = request;
  return { ...request, plan: { ...plan, steps: plan.steps.map((step) => ({ ...step, current: null })) } };
}

async function record(
  { recorder, journal, log }: Core,
  request: ChangeRequest,
  actor: Actor | undefined,
): Promise<void> {
  const { id, state, appliance, operation, recipe, decision, digest, requested_by } = request;
  const what = { appliance, operation: operation ?? recipe ?? '', method: '-', path: `/requests/${id}` };
  const particulars = { event: 'change_request', state, plan_sha256: digest, requested_by } as const;
  const reason = (decision ?? request).reason ?? undefined;
  if (actor) await recorder.record({ ...actor, id, ...what, reason }, particulars);
  else await journal.append({ ...particulars, ...what, request: id, principal: '-', role: '-' });
  log.info({ request: id, state, appliance, principal: actor?.principal.name ?? '-' }, 'change request');
}

/** Stores a request once the audit has it. */
async function save(core: Core, stored: StoredRequest, recorded: () => Promise<void>): Promise<void> {
  const { entries, folder } = core;
  const { id } = stored.request;
  const draft = await folder.draft(stored).catch(notStored);
  try {
    await recorded();
  } catch (error) {
    await draft.discard().catch(() => undefined);
    throw error;
  }
  await draft.keep().catch(notStored);
  const entry = entries.get(id);
  if (entry) entry.stored = stored;
  else entries.set(id, { stored, isDeciding: false, isExecuting: false });
  await removeOldest(core);
  updateMetrics(core);
}

async function removeOldest({ entries, folder, log }: Core): Promise<void> {
  const over = [...entries.values()].map(({ stored }) => stored.request).filter(({ state }) => isOver(state));
  const oldest = over.toSorted((a, b) => (a.created < b.created ? -1 : 1)).slice(0, Math.max(0, over.length - maxOver));
  for (const { id } of oldest) {
    entries.delete(id);
    await folder
      .remove(id)
      .catch((error: unknown) => log.debug({ err: error, request: id }, 'change request cannot be removed'));
  }
}

async function deciding(core: Core, entry: Entry, decide: () => Promise<ChangeRequest>): Promise<ChangeRequest> {
  const { request } = entry.stored;
  if (entry.isDeciding) throw alreadyOver(request, 'a decision on it is under way');
  if (entry.isExecuting) throw alreadyOver(request, `it is ${request.state}`);
  entry.isDeciding = true;
  try {
    await refresh(core, entry);
    await requireWaiting(core, entry);
    return await decide();
  } finally {
    entry.isDeciding = false;
  }
}

async function refresh({ folder }: Core, entry: Entry): Promise<void> {
  entry.stored = (await folder.load(entry.stored.request.id).catch(notStored)) ?? entry.stored;
}

async function requireWaiting(core: Core, entry: Entry): Promise<void> {
  await endIfOverdue(core, entry);
  const { request } = entry.stored;
  if (!isWaiting(request.state)) throw alreadyOver(request, `it is ${request.state}`);
}

async function endIfOverdue(core: Core, entry: Entry): Promise<void> {
  if (!overdueOf(core, entry)) return;
  await refresh(core, entry);
  const decision = overdueOf(core, entry);
  if (decision) await move(core, entry, decision.what, { decision });
}

/** A clock that was set back by more than this would let a request live for too long. */
const maxClockStepMs = 60_000;

/** Returns how a waiting request is to end now, if it is. */
function overdueOf({ now, principals }: Core, { stored: { request } }: Entry) {
  const { state, created, expires, requested_by: name } = request;
  if (!isWaiting(state)) return undefined;
  const ending = <What extends 'expired' | 'cancelled'>(what: What, reason: string) => ({ by: '-', what, reason });
  if (now() >= Date.parse(expires)) return ending('expired', 'Nobody approved it in time.');
  if (now() < Date.parse(created) - maxClockStepMs) return ending('expired', 'The clock was set back.');
  return principals.inForce(name) ? undefined : ending('cancelled', `The token of ${name} is not in force any more.`);
}

function updateMetrics({ entries, metrics, now }: Core): void {
  const open = [...entries.values()].map(({ stored }) => stored.request).filter(({ state }) => !isOver(state));
  const late = open.filter(
    ({ state, created, expires }) => isWaiting(state) && 2 * now() > Date.parse(created) + Date.parse(expires),
  );
  const counts = openStates.map((state) => [state, open.filter((each) => each.state === state).length] as const);
  metrics.changeRequests(new Map(counts), late.length);
}
