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
import { alreadyOver } from './refusals.ts';
import type { RequestFolder, StoredRequest } from './request-folder.ts';

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
   * nothing, if the audit cannot be written.
   */
  move(entry: Entry, state: RequestState, what?: Move): Promise<ChangeRequest>;
  /** Lets one decision at a time be made on a request that waits; refuses all others. */
  deciding(entry: Entry, decide: () => Promise<ChangeRequest>): Promise<ChangeRequest>;
  /** Ends a waiting request whose time is over, or whose token is not in force any more. */
  endIfOverdue(entry: Entry): Promise<void>;
  updateMetrics(): void;
}

export interface RequestBookParts {
  readonly folder: RequestFolder;
  readonly principals: Pick<Principals, 'isInForce'>;
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
    async add(added, actor) {
      await record(core, added.request, actor);
      await save(core, added);
    },
    replan: ({ stored: { request, sealed } }, plan) => save(core, { request: { ...request, ...plan }, sealed }),
    move: (entry, state, what = {}) => move(core, entry, state, what),
    deciding: (entry, decide) => deciding(core, entry, decide),
    endIfOverdue: (entry) => endIfOverdue(core, entry),
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
    ...request,
    state,
    ...(what.decision && { decision: { ...what.decision, at } }),
    ...(what.outcome && { outcome: { ...what.outcome, at } }),
  };
  await record(core, next, what.actor);
  await save(core, { request: next, sealed: isOver(state) ? null : sealed });
  if (isOver(state)) core.metrics.changeRequestEnded(state);
  return next;
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

async function save(core: Core, stored: StoredRequest): Promise<void> {
  const { entries, folder } = core;
  const { id } = stored.request;
  await folder.save(stored);
  const entry = entries.get(id);
  if (entry) entry.stored = stored;
  else entries.set(id, { stored, isDeciding: false, isExecuting: false });
  await removeOldest(core);
  updateMetrics(core);
}

async function removeOldest({ entries, folder }: Core): Promise<void> {
  const over = [...entries.values()].map(({ stored }) => stored.request).filter(({ state }) => isOver(state));
  const oldest = over.toSorted((a, b) => (a.created < b.created ? -1 : 1)).slice(0, Math.max(0, over.length - maxOver));
  for (const { id } of oldest) {
    entries.delete(id);
    await folder.remove(id);
  }
}

async function deciding(core: Core, entry: Entry, decide: () => Promise<ChangeRequest>): Promise<ChangeRequest> {
  const { id } = entry.stored.request;
  if (entry.isDeciding) throw alreadyOver(entry.stored.request, 'a decision on it is under way');
  entry.isDeciding = true;
  try {
    // Another exporter may have written it, if both were given the same audit.
    entry.stored = (await core.folder.load(id)) ?? entry.stored;
    await endIfOverdue(core, entry);
    const { request } = entry.stored;
    if (!isWaiting(request.state)) throw alreadyOver(request, `it is ${request.state}`);
    return await decide();
  } finally {
    entry.isDeciding = false;
  }
}

async function endIfOverdue(core: Core, entry: Entry): Promise<void> {
  const { state, expires, requested_by: name } = entry.stored.request;
  if (!isWaiting(state)) return;
  if (core.now() >= Date.parse(expires)) {
    const decision = { by: '-', what: 'expired', reason: 'Nobody approved it in time.' } as const;
    await move(core, entry, 'expired', { decision });
  } else if (!core.principals.isInForce(name)) {
    const reason = `The token of ${name} is not in force any more.`;
    await move(core, entry, 'cancelled', { decision: { by: '-', what: 'cancelled', reason } });
  }
}

function updateMetrics({ entries, metrics, now }: Core): void {
  const open = [...entries.values()].map(({ stored }) => stored.request).filter(({ state }) => !isOver(state));
  const late = open.filter(
    ({ state, created, expires }) => isWaiting(state) && 2 * now() > Date.parse(created) + Date.parse(expires),
  );
  const counts = openStates.map((state) => [state, open.filter((each) => each.state === state).length] as const);
  metrics.changeRequests(new Map(counts), late.length);
}
