import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { endpoints } from '../../appliance/api/table.ts';
import { decode } from '../../appliance/decode.ts';
import { withinShares } from '../../lib/shares.ts';
import type { Caller, Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { StateUpdate, Journal, StoredState } from '../journal/journal.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import { type Recorder, throwUnavailable } from '../calls/recorder.ts';
import {
  type AlertSource,
  alreadyOver,
  type Change,
  type Ending,
  isOver,
  isWaiting,
  newestFirst,
  openStates,
  type StoredChange,
  StoredChangeSchema,
  type Transition,
  transition,
} from './change.ts';

/** A change in memory; the journal has the same record. */
export interface ChangeEntry extends StoredChange {
  change: StoredChange['change'];
  sealed: StoredChange['sealed'];
  /** True while its record is being changed: others are refused meanwhile. */
  isLocked: boolean;
  /** The alerts that fire now. The journal has `change.alerts`, which the next sweep brings up to date. */
  firingAlerts: readonly AlertSource[];
  /** How it ended, until that is stored. */
  ending?: Ending;
  /** True if it was read from a copy of the journal, which does not know what came after it. */
  readonly isFromCopy: boolean;
}

export interface ChangeStoreParts {
  readonly principals: Pick<Principals, 'inForce' | 'assertInForce'>;
  readonly recorder: Pick<Recorder, 'recordOrRefuse'>;
  readonly journal: Pick<Journal, 'append' | 'writeState' | 'onOpened'>;
  readonly metrics: Pick<AdminMetrics, 'setOpenChanges' | 'clearOpenChanges' | 'countChangeEnd'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Limit of the changes that are over, which people may look up. */
const maxOver = 200;

/** Owns all changes, in memory and in the journal; only it replaces the record of one. */
export class ChangeStore {
  readonly #parts: ChangeStoreParts;
  readonly #entries = new Map<string, ChangeEntry>();
  /** The addresses that changes under way change, by the id of the change. */
  readonly #claims = new Map<string, ReadonlySet<string>>();
  #isOpen = false;
  #isClosed = false;

  constructor(parts: ChangeStoreParts) {
    this.#parts = parts;
    parts.journal.onOpened((opened) => this.#load(opened));
  }

  /** Throws an {@link AdminProblem} as long as nobody knows what the journal has. */
  assertLoaded(): void {
    if (!this.#isOpen) throwUnavailable(undefined);
  }

  /**
   * Loads what is on disk, but for the changes that this process decides on or carries out, or whose
   * end it could not store yet. The alerts in memory are the newer ones.
   */
  #load({ changes, isCopy }: StoredState): void {
    const before = new Map(this.#entries);
    for (const [id, { isLocked, ending }] of before)
      if (!isLocked && !ending && !this.isClaimed(id)) this.#entries.delete(id);
    for (const [id, text] of changes) {
      if (this.#entries.has(id)) continue;
      try {
        const entry = entryOf(parseStored(id, text), isCopy);
        const { firingAlerts } = before.get(id) ?? entry;
        this.#entries.set(id, { ...entry, firingAlerts });
      } catch (error) {
        this.#parts.log.error({ err: error, change: id }, 'change cannot be read');
      }
    }
    this.#isOpen = true;
    this.updateMetrics();
  }

  get entries(): readonly ChangeEntry[] {
    return [...this.#entries.values()];
  }

  get changes(): readonly Change[] {
    return this.entries.map(({ change }) => change);
  }

  find(id: string): ChangeEntry | undefined {
    return this.#entries.get(id);
  }

  /**
   * Claims the objects of a plan for a change that this process runs, until it is over.
   * Throws an {@link AdminProblem} while another change has one of them.
   */
  claim(id: string, urls: ReadonlySet<string>): void {
    const other = [...this.#claims].find(([, taken]) => [...urls].some((url) => taken.has(url)));
    if (other) throw objectClaimed(other[0]);
    this.#claims.set(id, urls);
  }

  isClaimed(id: string): boolean {
    return this.#claims.has(id);
  }

  release(id: string): void {
    this.#claims.delete(id);
  }

  /** Adds a change, which is on disk when this resolves. */
  async add(stored: StoredChange, caller: Caller): Promise<ChangeEntry> {
    const entry = entryOf(stored);
    await this.#save(stored, (update) => this.#record(stored.change, caller, update), entry);
    return entry;
  }

  /**
   * Stores the plan that was made again at an approval if it differs from the one that was approved,
   * and rejects then: the new one has to be looked at. Rejects too if the change does not wait.
   */
  async replacePlanIfChanged(entry: ChangeEntry, { plan, digest }: Pick<Change, 'plan' | 'digest'>): Promise<void> {
    await this.#assertWaiting(entry);
    const { change, sealed } = entry;
    if (digest === change.digest) return;
    await this.#save({ change: { ...change, plan, digest }, sealed });
    throw new AdminProblem('plan_changed', {
      detail: 'The object or the findings have changed; nothing was sent. The change has the new plan.',
    });
  }

  /** Stores the alerts of a proposal that waits, if they are not what the journal says. */
  async saveAlerts(entry: ChangeEntry): Promise<void> {
    const { change, sealed } = entry;
    const isSame = isDeepStrictEqual(change.alerts, entry.firingAlerts);
    if (change.state !== 'proposed' || entry.firingAlerts.length === 0 || isSame) return;
    await this.#save({ change: { ...change, alerts: entry.firingAlerts }, sealed });
  }

  /**
   * Moves a change to its next state, in the transaction of its record. Rejects, and changes
   * nothing, if that cannot be written. `caller` is undefined if the exporter itself does it.
   */
  async transition(entry: ChangeEntry, next: Transition, caller?: Caller): Promise<Change> {
    const { firingAlerts: alerts, sealed } = entry;
    // A proposal whose alerts have ended keeps those it had.
    const before = { ...entry.change, ...(alerts.length > 0 && { alerts }) };
    const moved = transition({ change: before, sealed }, next, new Date(this.#parts.now()).toISOString());
    const { change } = moved;
    await this.#save(moved, (update) => this.#record(change, caller, update));
    if (isOver(change.state)) this.#parts.metrics.countChangeEnd(change.state);
    return change;
  }

  /** Lets one decision at a time be made on a change that waits; refuses all others. */
  async lockForDecision(entry: ChangeEntry, decide: () => Promise<Change>): Promise<Change> {
    const { change } = entry;
    if (entry.isLocked) throw lockedChange(change.id);
    if (this.isClaimed(change.id)) throw alreadyOver(change);
    return await this.withLock(entry, async () => {
      await this.#assertWaiting(entry);
      return await decide();
    });
  }

  /** Lets nobody decide on a change during the work. */
  async withLock<Value>(entry: ChangeEntry, work: () => Promise<Value>): Promise<Value> {
    entry.isLocked = true;
    try {
      return await work();
    } finally {
      entry.isLocked = false;
    }
  }

  /** Rejects for a change that does not wait, or not any more: its time may just have ended. */
  async #assertWaiting(entry: ChangeEntry): Promise<void> {
    await this.endIfLapsed(entry);
    if (!isWaiting(entry.change.state)) throw alreadyOver(entry.change);
  }

  /**
   * Ends a waiting change if its time is over, its alert has ended, or its token is no longer in
   * force.
   */
  async endIfLapsed(entry: ChangeEntry): Promise<void> {
    const lapse = lapseOf(this.#parts, entry);
    if (lapse) await this.transition(entry, lapse);
  }

  /** Removes the numbers of open changes for good: a sweep may go on until the journal gives up. */
  close(): void {
    this.#isClosed = true;
    this.#parts.metrics.clearOpenChanges();
  }

  updateMetrics(): void {
    if (this.#isClosed) return;
    const { metrics, now } = this.#parts;
    const open = this.changes.filter(({ state }) => !isOver(state));
    const late = open.filter(
      ({ state, created, expires }) => isWaiting(state) && 2 * now() > Date.parse(created) + Date.parse(expires),
    );
    const counts = openStates.map((state) => [state, open.filter((each) => each.state === state).length] as const);
    metrics.setOpenChanges(new Map(counts), late.length);
  }

  async #record(change: Change, caller: Caller | undefined, update: StateUpdate): Promise<void> {
    const { recorder, journal, log } = this.#parts;
    const { id, state, appliance, operation, recipe, decision, digest, requested_by } = change;
    const what = { appliance, operation: operation ?? recipe ?? '', method: '-', path: `/changes/${id}` };
    const fields = { event: 'change', state, plan_sha256: digest, requested_by } as const;
    const reason = (decision ?? change).reason ?? undefined;
    if (caller) await recorder.recordOrRefuse({ ...caller, id, ...what, reason }, fields, update);
    else await journal.append({ ...fields, ...what, request: id, principal: '-', role: '-' }, update);
    log.info({ change: id, state, appliance, principal: caller?.principal.name ?? '-' }, 'change');
  }

  /** Stores a change, with its record if there is one. */
  async #save(
    stored: StoredChange,
    record: (update: StateUpdate) => Promise<unknown> = (update) =>
      this.#parts.journal.writeState(update).catch(throwUnavailable),
    added?: ChangeEntry,
  ): Promise<void> {
    const { id } = stored.change;
    const forgotten = this.#toForget(stored);
    await record({ changes: new Map([[id, JSON.stringify(stored)]]), forgotten });
    const entry = this.#entries.get(id);
    if (entry) Object.assign(entry, stored);
    else this.#entries.set(id, added ?? entryOf(stored));
    for (const each of forgotten) this.#entries.delete(each);
    this.updateMetrics();
  }

  /**
   * Returns the ids of changes that are over and too many, once there is this one: the oldest of
   * the token and the appliance with the most.
   */
  #toForget({ change }: StoredChange): readonly string[] {
    const others = this.changes.filter(({ id, state }) => isOver(state) && id !== change.id);
    const over = isOver(change.state) ? [...others, change] : others;
    const sorted = newestFirst(over);
    const owner = ({ requested_by, appliance }: Change): string => `${requested_by} ${appliance}`;
    const kept = new Set(withinShares(sorted, maxOver, owner));
    return sorted.flatMap((each) => (kept.has(each) ? [] : each.id));
  }
}

function entryOf(stored: StoredChange, isFromCopy = false): ChangeEntry {
  return { ...stored, isLocked: false, firingAlerts: stored.change.alerts, isFromCopy };
}

/** A clock that was set back by more than this would let a change live for too long. */
const maxClockStepMs = 60_000;

/** Returns how a waiting change is to end now, if it is. */
function lapseOf({ now, principals }: ChangeStoreParts, { change, firingAlerts }: ChangeEntry): Transition | undefined {
  const { state, created, expires, requested_by: name } = change;
  if (!isWaiting(state)) return undefined;
  const ending = (what: 'expired' | 'cancelled' | 'withdrawn', reason: string): Transition => ({
    state: what,
    decision: { by: '-', what, reason },
  });
  if (state === 'proposed' && firingAlerts.length === 0) return ending('withdrawn', 'The alert has ended.');
  if (now() >= Date.parse(expires)) return ending('expired', 'Nobody approved it in time.');
  if (now() < Date.parse(created) - maxClockStepMs) return ending('expired', 'The clock was set back.');
  return principals.inForce(name) ? undefined : ending('cancelled', `The token of ${name} is not in force any more.`);
}

function lockedChange(id: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is being changed; nothing was sent.`,
    remedy: 'Try again in a moment.',
    headers: { 'retry-after': '2' },
  });
}

function objectClaimed(id: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is changing the same object; nothing was sent.`,
    remedy: `Ask again once ${id} is over.`,
    headers: { 'retry-after': '5' },
  });
}

/** Returns the change in a text of the journal. Throws for anything else. */
function parseStored(id: string, text: string): StoredChange {
  const stored = JSON.parse(text) as StoredChange;
  const fault = decode(StoredChangeSchema, stored);
  if (fault) throw new Error(`${id}: ${fault.because}`);
  const { change, sealed } = stored;
  if (change.id !== id) throw new Error(`${id}: it is ${change.id}`);
  if (change.operation !== undefined && !Object.hasOwn(endpoints, change.operation))
    throw new Error(`${id}: there is no operation ${change.operation}`);
  // Without these parts, nobody could tell who may not approve it.
  if (isOver(change.state) !== (sealed === null))
    throw new Error(`${id}: ${sealed ? 'it is over and has sealed parts' : 'its sealed parts are missing'}`);
  return stored;
}
