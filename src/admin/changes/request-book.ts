import type { Caller, Principals } from '../policy/principal.ts';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { type Static, Type } from 'typebox';
import { endpoints } from '../../appliance/api/table.ts';
import { createDecoder, type Decode } from '../../appliance/decode.ts';
import { AdminProblem } from '../policy/problem.ts';
import { errorCode, isOneOf } from '../../lib/check.ts';
import { ifMissing, makeFolder, readShort, syncFolder, writeSynced } from '../../lib/disk.ts';
import type { AuditJournal } from '../journal/journal.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import type { Recorder } from '../calls/recorder.ts';
import {
  type AlertSource,
  alertsOf,
  type ChangeRequest,
  ChangeRequestSchema,
  SealedPartsSchema,
  type Decision,
  type Ending,
  isOver,
  isWaiting,
  nextStates,
  openStates,
  type Outcome,
  type RequestState,
} from './change-request.ts';

const StoredSchema = Type.Object({
  request: ChangeRequestSchema,
  /** Null once the request is over. */
  sealed: Type.Union([SealedPartsSchema, Type.Null()]),
});
/** A request as it is on disk. */
export type StoredRequest = Readonly<Static<typeof StoredSchema>>;

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

export function alreadyOver({ id }: Pick<ChangeRequest, 'id'>, because: string): AdminProblem {
  return new AdminProblem('request_over', {
    detail: `${id} does not wait for a decision: ${because}. Nothing was sent.`,
    remedy: `GET /requests/${id} shows what became of it.`,
  });
}

/** Throws the problem of a file beside the audit that cannot be written or read. */
function notStored(cause: unknown): never {
  throw new AdminProblem('audit_unavailable', {
    detail: `The change request cannot be kept beside the audit (${errorCode(cause) || 'its file is damaged'}); nothing was sent.`,
    remedy: 'Look at the disk and the rights of the folder admin.audit_file.requests.',
    headers: { 'retry-after': '30' },
    cause,
  });
}

/** One file for each change request, which only the exporter's user can read. */
export type RequestFolder = ReturnType<typeof createRequestFolder>;

/** Without a folder, or with one that cannot be there, there are no requests. */
function ifThereIsNone(error: unknown): readonly string[] {
  if (!isOneOf(['ENOENT', 'ENOTDIR'], errorCode(error))) throw error;
  return [];
}

const idPattern = /^cr-[a-z2-7]{10}$/;
/** More than a plan and the largest body. */
const maxFileBytes = 4_194_304;
const draftEnding = '.json.new';

export function createRequestFolder(folder: string) {
  const decode = createDecoder();
  const fileOf = (id: string): string => join(folder, `${id}.json`);

  /** Resolves to undefined for a missing file; rejects for one that is no request. */
  async function load(id: string): Promise<StoredRequest | undefined> {
    const text = await readShort(fileOf(id), maxFileBytes).catch(ifMissing);
    return text === undefined ? undefined : parseStored(text, id, decode);
  }

  return {
    load,
    /** Writes the next content beside the file: a full disk is found before anything happens. */
    async draft(stored: StoredRequest) {
      await makeFolder(folder);
      const file = fileOf(stored.request.id);
      const draft = `${file}.new`;
      const discard = (): Promise<void> => rm(draft, { force: true });
      try {
        await writeSynced(draft, JSON.stringify(stored));
      } catch (error) {
        await discard().catch(() => undefined);
        throw error;
      }
      return {
        discard,
        /** Resolves when it is the file, also after a loss of power. */
        async keep(): Promise<void> {
          await rename(draft, file);
          await syncFolder(file);
        },
      };
    },
    /**
     * Resolves to all requests, and to the names of files that are none. Removes drafts that a
     * crash left behind: they may have passwords.
     */
    async loadAll() {
      const names = await readdir(folder).catch(ifThereIsNone);
      const stored: StoredRequest[] = [];
      const unreadable: string[] = [];
      for (const id of names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))) {
        const found = idPattern.test(id) ? await load(id).catch(() => undefined) : undefined;
        if (found) stored.push(found);
        else unreadable.push(`${id}.json`);
      }
      for (const name of names.filter((each) => each.endsWith(draftEnding)))
        await rm(join(folder, name), { force: true }).catch(() => unreadable.push(name));
      return { stored, unreadable };
    },
    remove: (id: string): Promise<void> => rm(fileOf(id), { force: true }),
  };
}

/** Returns the request in the text of its file. Throws for anything else. */
function parseStored(text: string, id: string, decode: Decode): StoredRequest {
  const stored = JSON.parse(text) as StoredRequest;
  const checked = decode(StoredSchema, stored);
  if (!checked.ok) throw new Error(`${id}: ${checked.because}`);
  const { request, sealed } = stored;
  if (request.id !== id) throw new Error(`${id}: it is ${request.id}`);
  if (request.operation !== undefined && !Object.hasOwn(endpoints, request.operation))
    throw new Error(`${id}: there is no operation ${request.operation}`);
  // Without these parts, nobody could tell who may not approve it.
  if (isOver(request.state) !== (sealed === null)) throw new Error(`${id}: it is not sealed`);
  return stored;
}
