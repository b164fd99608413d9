import type { Caller, Principals } from '../policy/principal.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { endpoints } from '../../appliance/api/table.ts';
import { decode } from '../../appliance/decode.ts';
import { withinShares } from '../../lib/within-shares.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { StateUpdate, Journal, Opened } from '../journal/journal.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import { type Recorder, unavailable } from '../calls/recorder.ts';
import {
  type AlertSource,
  alreadyOver,
  type Change,
  type Ending,
  isOver,
  isWaiting,
  openStates,
  type StoredChange,
  StoredChangeSchema,
  type Transition,
  transition,
} from './change.ts';

/** A change in memory; the journal has the same record. */
export interface HeldChange extends StoredChange {
  change: StoredChange['change'];
  sealed: StoredChange['sealed'];
  /** True while its record is being changed: others are refused meanwhile. */
  isLocked: boolean;
  /** The alerts of a proposal that fire now; the journal may follow later. */
  alerts: readonly AlertSource[];
  /** How it ended, until that is stored. */
  ending?: Ending;
  /** True if it was read from a copy of the journal, which does not know what came after it. */
  readonly isFromCopy: boolean;
}

export interface ChangeStoreParts {
  readonly principals: Pick<Principals, 'inForce' | 'refuseUnlessInForce'>;
  readonly recorder: Pick<Recorder, 'recordOrRefuse'>;
  readonly journal: Pick<Journal, 'append' | 'keep' | 'onOpened'>;
  readonly metrics: Pick<AdminMetrics, 'changes' | 'changeEnded'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Changes that are over are kept for those who look later. */
const maxOver = 200;

/** Keeps all changes, in memory and in the journal; only it replaces the record of one. */
export class ChangeStore {
  readonly #parts: ChangeStoreParts;
  readonly #held = new Map<string, HeldChange>();
  /** The addresses that changes under way change, by the id of the change. */
  readonly #claims = new Map<string, ReadonlySet<string>>();
  #isOpen = false;

  constructor(parts: ChangeStoreParts) {
    this.#parts = parts;
    parts.journal.onOpened((opened) => this.#found(opened));
  }

  /** Throws an {@link AdminProblem} as long as nobody knows what the journal has. */
  refuseUnread(): void {
    if (!this.#isOpen) unavailable(undefined);
  }

  /** Takes over what is on disk, but for what this process decides on or carries out. */
  #found({ changes, isCopy }: Opened): void {
    for (const [id, held] of this.#held) if (!held.isLocked && !this.isClaimed(id)) this.#held.delete(id);
    for (const [id, text] of changes) {
      if (this.#held.has(id)) continue;
      try {
        this.#held.set(id, heldOf(parseStored(id, text), isCopy));
      } catch (error) {
        this.#parts.log.error({ err: error, change: id }, 'change cannot be read');
      }
    }
    this.#isOpen = true;
    this.updateMetrics();
  }

  get held(): readonly HeldChange[] {
    return [...this.#held.values()];
  }

  get changes(): readonly Change[] {
    return this.held.map(({ change }) => change);
  }

  find(id: string): HeldChange | undefined {
    return this.#held.get(id);
  }

  /**
   * Takes the objects of a plan for a change that this process carries out, until it is over.
   * Throws an {@link AdminProblem} while another change has one of them.
   */
  claim(id: string, urls: ReadonlySet<string>): void {
    const other = [...this.#claims].find(([, taken]) => [...urls].some((url) => taken.has(url)));
    if (other) throw sameObject(other[0]);
    this.#claims.set(id, urls);
  }

  isClaimed(id: string): boolean {
    return this.#claims.has(id);
  }

  release(id: string): void {
    this.#claims.delete(id);
  }

  /** Adds a change, which is on disk when this resolves. */
  async add(stored: StoredChange, caller: Caller): Promise<HeldChange> {
    const held = heldOf(stored);
    await this.#save(stored, (alongside) => this.#record(stored.change, caller, alongside), held);
    return held;
  }

  /**
   * Rejects for a change that does not wait any more, and for one whose plan was another one: it
   * has the new plan then.
   */
  async requirePlan(held: HeldChange, { plan, digest }: Pick<Change, 'plan' | 'digest'>): Promise<void> {
    await this.#requireWaiting(held);
    const { change, sealed } = held;
    if (digest === change.digest) return;
    await this.#save({ change: { ...change, plan, digest }, sealed });
    throw new AdminProblem('plan_changed', {
      detail: 'The object or the findings are not what they were; nothing was sent. The change has the new plan.',
    });
  }

  /** Stores the alerts of a proposal that waits, if they are not what the journal says. */
  async keepAlerts(held: HeldChange): Promise<void> {
    const { change, sealed } = held;
    const isSame = isDeepStrictEqual(change.alerts, held.alerts);
    if (change.state !== 'proposed' || held.alerts.length === 0 || isSame) return;
    await this.#save({ change: { ...change, alerts: held.alerts }, sealed });
  }

  /**
   * Moves a change to its next state, in the transaction of its record. Rejects, and changes
   * nothing, if that cannot be written. `caller` is undefined if the exporter itself moves it.
   */
  async move(held: HeldChange, next: Transition, caller?: Caller): Promise<Change> {
    const { alerts, sealed } = held;
    // A proposal whose alerts have ended keeps those it had.
    const shown = { ...held.change, ...(alerts.length > 0 && { alerts }) };
    const moved = transition({ change: shown, sealed }, next, new Date(this.#parts.now()).toISOString());
    const { change } = moved;
    await this.#save(moved, (alongside) => this.#record(change, caller, alongside));
    if (isOver(change.state)) this.#parts.metrics.changeEnded(change.state);
    return change;
  }

  /** Lets one decision at a time be made on a change that waits; refuses all others. */
  async deciding(held: HeldChange, decide: () => Promise<Change>): Promise<Change> {
    const { change } = held;
    if (held.isLocked) throw beingChanged(change.id);
    if (this.isClaimed(change.id)) throw alreadyOver(change);
    return await this.withLock(held, async () => {
      await this.#requireWaiting(held);
      return await decide();
    });
  }

  /** Lets nobody decide on a change during the work. */
  async withLock<Result>(held: HeldChange, work: () => Promise<Result>): Promise<Result> {
    held.isLocked = true;
    try {
      return await work();
    } finally {
      held.isLocked = false;
    }
  }

  /** Rejects for a change that does not wait, or not any more: its time may just have ended. */
  async #requireWaiting(held: HeldChange): Promise<void> {
    await this.endIfOverdue(held);
    if (!isWaiting(held.change.state)) throw alreadyOver(held.change);
  }

  /**
   * Ends a waiting change if its time is over, its alert has ended, or its token is no longer in
   * force.
   */
  async endIfOverdue(held: HeldChange): Promise<void> {
    const overdue = overdueOf(this.#parts, held);
    if (overdue) await this.move(held, overdue);
  }

  updateMetrics(): void {
    const { metrics, now } = this.#parts;
    const open = this.changes.filter(({ state }) => !isOver(state));
    const late = open.filter(
      ({ state, created, expires }) => isWaiting(state) && 2 * now() > Date.parse(created) + Date.parse(expires),
    );
    const counts = openStates.map((state) => [state, open.filter((each) => each.state === state).length] as const);
    metrics.changes(new Map(counts), late.length);
  }

  async #record(change: Change, caller: Caller | undefined, alongside: StateUpdate): Promise<void> {
    const { recorder, journal, log } = this.#parts;
    const { id, state, appliance, operation, recipe, decision, digest, requested_by } = change;
    const what = { appliance, operation: operation ?? recipe ?? '', method: '-', path: `/changes/${id}` };
    const fields = { event: 'change', state, plan_sha256: digest, requested_by } as const;
    const reason = (decision ?? change).reason ?? undefined;
    if (caller) await recorder.recordOrRefuse({ ...caller, id, ...what, reason }, fields, alongside);
    else await journal.append({ ...fields, ...what, request: id, principal: '-', role: '-' }, alongside);
    log.info({ change: id, state, appliance, principal: caller?.principal.name ?? '-' }, 'change');
  }

  /** Stores a change, with its record if there is one. */
  async #save(
    stored: StoredChange,
    record: (alongside: StateUpdate) => Promise<unknown> = (alongside) =>
      this.#parts.journal.keep(alongside).catch(unavailable),
    added?: HeldChange,
  ): Promise<void> {
    const { id } = stored.change;
    const forgotten = this.#oldestBut(stored);
    await record({ changes: new Map([[id, JSON.stringify(stored)]]), forgotten });
    const held = this.#held.get(id);
    if (held) Object.assign(held, stored);
    else this.#held.set(id, added ?? heldOf(stored));
    for (const each of forgotten) this.#held.delete(each);
    this.updateMetrics();
  }

  /**
   * Returns the ids of changes that are over and too many, once there is this one: the oldest of
   * the token and the appliance with the most.
   */
  #oldestBut({ change }: StoredChange): readonly string[] {
    const others = this.changes.filter(({ id, state }) => isOver(state) && id !== change.id);
    const over = isOver(change.state) ? [...others, change] : others;
    const newestFirst = over.toSorted((a, b) => (a.created < b.created ? 1 : -1));
    const owner = ({ requested_by, appliance }: Change): string => `${requested_by} ${appliance}`;
    const kept = new Set(withinShares(newestFirst, maxOver, owner));
    return newestFirst.flatMap((each) => (kept.has(each) ? [] : each.id));
  }
}

function heldOf(stored: StoredChange, isFromCopy = false): HeldChange {
  return { ...stored, isLocked: false, alerts: stored.change.alerts, isFromCopy };
}

/** A clock that was set back by more than this would let a change live for too long. */
const maxClockStepMs = 60_000;

/** Returns how a waiting change is to end now, if it is. */
function overdueOf({ now, principals }: ChangeStoreParts, { change, alerts }: HeldChange): Transition | undefined {
  const { state, created, expires, requested_by: name } = change;
  if (!isWaiting(state)) return undefined;
  const ending = (what: 'expired' | 'cancelled' | 'withdrawn', reason: string): Transition => ({
    state: what,
    decision: { by: '-', what, reason },
  });
  if (state === 'proposed' && alerts.length === 0) return ending('withdrawn', 'The alert has ended.');
  if (now() >= Date.parse(expires)) return ending('expired', 'Nobody approved it in time.');
  if (now() < Date.parse(created) - maxClockStepMs) return ending('expired', 'The clock was set back.');
  return principals.inForce(name) ? undefined : ending('cancelled', `The token of ${name} is not in force any more.`);
}

function beingChanged(id: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is being changed; nothing was sent.`,
    remedy: 'Try again in a moment.',
    headers: { 'retry-after': '2' },
  });
}

function sameObject(id: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is changing the same object; nothing was sent.`,
    remedy: `Ask again once ${id} is over.`,
    headers: { 'retry-after': '5' },
  });
}

/** Returns the change in a text of the journal. Throws for anything else. */
function parseStored(id: string, text: string): StoredChange {
  const stored = JSON.parse(text) as StoredChange;
  const checked = decode(StoredChangeSchema, stored);
  if (!checked.ok) throw new Error(`${id}: ${checked.because}`);
  const { change, sealed } = stored;
  if (change.id !== id) throw new Error(`${id}: it is ${change.id}`);
  if (change.operation !== undefined && !Object.hasOwn(endpoints, change.operation))
    throw new Error(`${id}: there is no operation ${change.operation}`);
  // Without these parts, nobody could tell who may not approve it.
  if (isOver(change.state) !== (sealed === null))
    throw new Error(`${id}: ${sealed ? 'it is over and has sealed parts' : 'its sealed parts are missing'}`);
  return stored;
}
