import type { Caller, Principals } from '../gateway/principal.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { AuditJournal } from '../audit/journal.ts';
import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import type { Recorder } from '../gateway/recorder.ts';
import {
  type AlertSource,
  alertsOf,
  type ChangeRequest,
  type Decision,
  type Ending,
  isOver,
  isWaiting,
  nextStates,
  openStates,
  type Outcome,
  type RequestState,
} from './change-request.ts';
import { alreadyOver, notStored } from './refusals.ts';
import type { RequestFolder, StoredRequest } from './request-folder.ts';

/** A request in memory; its file on disk says the same. */
export interface Entry {
  stored: StoredRequest;
  /** True while somebody decides on it: others are refused meanwhile. */
  isDeciding: boolean;
  /** True while this process carries it out. */
  isExecuting: boolean;
  /** The alerts of a proposal that fire now; its file may follow later. */
  alerts: readonly AlertSource[];
  /** How it ended, until that is stored. */
  ending?: Ending;
}

/** The details of a new state. */
export interface Move {
  readonly decision?: Omit<Decision, 'at'>;
  readonly outcome?: Omit<Outcome, 'at'>;
  /** Undefined if the exporter itself moves it. */
  readonly actor?: Caller;
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

/** All change requests, in memory and on disk, and the only place where their states change. */
export class RequestBook {
  readonly #parts: RequestBookParts;
  readonly #entries: Map<string, Entry>;

  /** Opens the folder of requests. */
  static async open(parts: RequestBookParts): Promise<RequestBook> {
    const { stored, unreadable } = await parts.folder.loadAll();
    for (const file of unreadable) parts.log.error({ file }, 'change request cannot be read');
    return new RequestBook(parts, stored);
  }

  private constructor(parts: RequestBookParts, loaded: readonly StoredRequest[]) {
    this.#parts = parts;
    this.#entries = new Map(loaded.map((stored) => [stored.request.id, entryOf(stored)]));
    this.updateMetrics();
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  get requests(): readonly ChangeRequest[] {
    return this.entries.map(({ stored }) => stored.request);
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  /** Adds a request, which is on disk and in the audit when this resolves. */
  async add(stored: StoredRequest, actor: Caller): Promise<void> {
    await this.#save(stored, () => this.#record(stored.request, actor));
  }

  /** Replaces the plan of a request that waits. */
  async replan({ stored: { request, sealed } }: Entry, plan: Pick<ChangeRequest, 'plan' | 'digest'>): Promise<void> {
    await this.#save({ request: { ...request, ...plan }, sealed }, () => Promise.resolve());
  }

  /** Stores the alerts of a proposal that waits, if they are not what its file says. */
  async keepAlerts(entry: Entry): Promise<void> {
    const { request, sealed } = entry.stored;
    const isSame = isDeepStrictEqual(alertsOf(request), entry.alerts);
    if (request.state !== 'proposed' || entry.alerts.length === 0 || isSame) return;
    await this.#save({ request: { ...request, ...shownAlerts(entry) }, sealed }, () => Promise.resolve());
  }

  /**
   * Moves a request to its next state: first in the audit, then on disk. Rejects, and changes
   * nothing, if one of them cannot be written.
   */
  async move(entry: Entry, state: RequestState, { decision, outcome, actor }: Move = {}): Promise<ChangeRequest> {
    const { request, sealed } = entry.stored;
    if (!nextStates[request.state].includes(state)) throw alreadyOver(request, `it is ${request.state}`);
    const at = new Date(this.#parts.now()).toISOString();
    const next = {
      ...(isOver(state) ? withoutObjects(request) : request),
      ...shownAlerts(entry),
      state,
      ...(decision && { decision: { ...decision, at } }),
      ...(outcome && { outcome: { ...outcome, at } }),
    };
    await this.#save({ request: next, sealed: isOver(state) ? null : sealed }, () => this.#record(next, actor));
    if (isOver(state)) this.#parts.metrics.changeRequestEnded(state);
    return next;
  }

  /** Lets one decision at a time be made on a request that waits; refuses all others. */
  async deciding(entry: Entry, decide: () => Promise<ChangeRequest>): Promise<ChangeRequest> {
    const { request } = entry.stored;
    if (entry.isDeciding) throw alreadyOver(request, 'a decision on it is under way');
    if (entry.isExecuting) throw alreadyOver(request, `it is ${request.state}`);
    return await this.alone(entry, async () => {
      await this.refresh(entry);
      await this.requireWaiting(entry);
      return await decide();
    });
  }

  /** Lets nobody decide on a request during the work. */
  async alone<Result>(entry: Entry, work: () => Promise<Result>): Promise<Result> {
    entry.isDeciding = true;
    try {
      return await work();
    } finally {
      entry.isDeciding = false;
    }
  }

  /** Rejects for a request that does not wait, or not any more: its time may just have ended. */
  async requireWaiting(entry: Entry): Promise<void> {
    await this.endIfOverdue(entry);
    const { request } = entry.stored;
    if (!isWaiting(request.state)) throw alreadyOver(request, `it is ${request.state}`);
  }

  /**
   * Ends a waiting request whose time is over, whose token is not in force any more, or whose alert
   * has ended.
   */
  async endIfOverdue(entry: Entry): Promise<void> {
    if (!overdueOf(this.#parts, entry)) return;
    await this.refresh(entry);
    const decision = overdueOf(this.#parts, entry);
    if (decision) await this.move(entry, decision.what, { decision });
  }

  /** Reads its file again: another exporter may have written it, if both have the same audit. */
  async refresh(entry: Entry): Promise<void> {
    entry.stored = (await this.#parts.folder.load(entry.stored.request.id).catch(notStored)) ?? entry.stored;
  }

  updateMetrics(): void {
    const { metrics, now } = this.#parts;
    const open = this.requests.filter(({ state }) => !isOver(state));
    const late = open.filter(
      ({ state, created, expires }) => isWaiting(state) && 2 * now() > Date.parse(created) + Date.parse(expires),
    );
    const counts = openStates.map((state) => [state, open.filter((each) => each.state === state).length] as const);
    metrics.changeRequests(new Map(counts), late.length);
  }

  async #record(request: ChangeRequest, actor: Caller | undefined): Promise<void> {
    const { recorder, journal, log } = this.#parts;
    const { id, state, appliance, operation, recipe, decision, digest, requested_by } = request;
    const what = { appliance, operation: operation ?? recipe ?? '', method: '-', path: `/requests/${id}` };
    const particulars = { event: 'change_request', state, plan_sha256: digest, requested_by } as const;
    const reason = (decision ?? request).reason ?? undefined;
    if (actor) await recorder.record({ ...actor, id, ...what, reason }, particulars);
    else await journal.append({ ...particulars, ...what, request: id, principal: '-', role: '-' });
    log.info({ request: id, state, appliance, principal: actor?.principal.name ?? '-' }, 'change request');
  }

  /** Stores a request once the audit has it. */
  async #save(stored: StoredRequest, recorded: () => Promise<void>): Promise<void> {
    const { id } = stored.request;
    const draft = await this.#parts.folder.draft(stored).catch(notStored);
    try {
      await recorded();
    } catch (error) {
      await draft.discard().catch(() => undefined);
      throw error;
    }
    await draft.keep().catch(notStored);
    const entry = this.#entries.get(id);
    if (entry) entry.stored = stored;
    else this.#entries.set(id, entryOf(stored));
    await this.#removeOldest();
    this.updateMetrics();
  }

  async #removeOldest(): Promise<void> {
    const { folder, log } = this.#parts;
    const over = this.requests.filter(({ state }) => isOver(state));
    const oldest = over.toSorted((a, b) => (a.created < b.created ? -1 : 1));
    for (const { id } of oldest.slice(0, Math.max(0, over.length - maxOver))) {
      this.#entries.delete(id);
      await folder
        .remove(id)
        .catch((error: unknown) => log.debug({ err: error, request: id }, 'change request cannot be removed'));
    }
  }
}

function entryOf(stored: StoredRequest): Entry {
  return { stored, isDeciding: false, isExecuting: false, alerts: alertsOf(stored.request) };
}

/** Returns the alerts of a proposal; one whose alerts have ended keeps those it had. */
function shownAlerts({ alerts }: Entry): Pick<ChangeRequest, 'alerts'> & { readonly alert?: AlertSource } {
  const [alert] = alerts;
  return alert ? { alert, alerts } : {};
}

/** Leaves out the objects of the plan: they are large, and change. */
function withoutObjects(request: ChangeRequest): ChangeRequest {
  const { plan } = request;
  return { ...request, plan: { ...plan, steps: plan.steps.map((step) => ({ ...step, current: null })) } };
}

/** A clock that was set back by more than this would let a request live for too long. */
const maxClockStepMs = 60_000;

/** Returns how a waiting request is to end now, if it is. */
function overdueOf({ now, principals }: RequestBookParts, { stored: { request }, alerts }: Entry) {
  const { state, created, expires, requested_by: name } = request;
  if (!isWaiting(state)) return undefined;
  const ending = <What extends 'expired' | 'cancelled' | 'withdrawn'>(what: What, reason: string) => ({
    by: '-',
    what,
    reason,
  });
  if (state === 'proposed' && alerts.length === 0) return ending('withdrawn', 'The alert has ended.');
  if (now() >= Date.parse(expires)) return ending('expired', 'Nobody approved it in time.');
  if (now() < Date.parse(created) - maxClockStepMs) return ending('expired', 'The clock was set back.');
  return principals.inForce(name) ? undefined : ending('cancelled', `The token of ${name} is not in force any more.`);
}
