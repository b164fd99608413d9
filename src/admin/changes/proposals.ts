import type { Logger } from 'pino';
import { Secret } from '../../lib/secret.ts';
import { type Static, Type } from 'typebox';
import { TokenBuckets } from '../../lib/token-bucket.ts';
import { oneLine } from '../../lib/text.ts';
import { createTimeSlice } from '../../lib/time.ts';
import { withinShares } from '../../lib/shares.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import type { Caller, Principal, Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { type AlertSource, AlertSourceSchema, type Change, isOver } from './change.ts';
import type { Changes } from './changes.ts';
import { titleOf } from './plan.ts';
import { keyOfTask, type Notification, type Repair, repairFor, type RepairParts } from './repairs.ts';

/** The numbers of alerts of a notification, by what became of them. */
export const AcceptedAlertsSchema = Type.Object({
  proposed: Type.Integer({ description: 'Planned in the background, or proposed already.' }),
  withdrawn: Type.Integer(),
  ignored: Type.Integer({
    description: 'Without a repair, for appliances that the token does not cover, or too many.',
  }),
  truncated: Type.Optional(Type.Integer({ description: 'Left out by the sender; absent for none.' })),
});

/** The repair of a firing alert that could not be planned. */
export const NotProposedSchema = Type.Object({
  appliance: Type.String(),
  title: Type.String(),
  parameters: Type.Record(Type.String(), Type.String()),
  alerts: Type.Immutable(Type.Array(AlertSourceSchema)),
  because: Type.String({ description: 'Why there is no proposal, and what to do.' }),
});
type NotProposed = Readonly<Static<typeof NotProposedSchema>>;

interface ProposalsParts extends RepairParts {
  readonly changes: Pick<Changes, 'propose' | 'setAlerts' | 'all'>;
  readonly principals: Pick<Principals, 'plannerFor'>;
  readonly metrics: Pick<AdminMetrics, 'countChangeEnd'>;
  readonly log: Logger;
}

/** These texts have no caller whose token must be removed; other tokens are found by their digests. */
const noToken = new Secret('');

/** A repair that could not be planned. */
type NotProposedRepair = Repair & { readonly because: string };

type ListedChange = Changes['all'][number];

export const maxOpenPerAppliance = 5;
/** Limit of the repairs that could not be planned. */
const maxNotProposed = 100;
/** Each plan asks the appliance several questions, whether or not it can be made. */
export const maxPlansPerMinute = 10;
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;
/** Limit of the alerts of one repair; a sender may invent labels without end. */
const maxAlerts = 100;

/**
 * Proposes the repairs of alerts, for a person to approve. Keeps the alerts of a repair until its
 * change is stored; after that, the entry of the change has them.
 */
export class Proposals {
  readonly #parts: ProposalsParts;
  readonly #stopping = new AbortController();
  /** Repairs that wait to be planned, or are being planned, by {@link keyOf}. */
  readonly #waiting = new Map<string, Repair>();
  readonly #notProposed = new Map<string, NotProposedRepair>();
  readonly #planning = new Map<string, Promise<void>>();
  readonly #plans = TokenBuckets.perMinute(maxPlansPerMinute);
  /** A notification has thousands of alerts, each of which is compared with all changes. */
  readonly #keys = new WeakMap<Change, string>();

  constructor(parts: ProposalsParts) {
    this.#parts = parts;
  }

  /**
   * Accepts a notification, and plans in the background: Alertmanager waits for nothing. Rejects with
   * an {@link AdminProblem} for that of another program.
   */
  async accept(notification: Notification, sender: Caller): Promise<Static<typeof AcceptedAlertsSchema>> {
    const { metrics, log } = this.#parts;
    const { version, alerts, truncatedAlerts: truncated = 0 } = notification;
    if (version !== '4') throw otherVersion(version);
    if (truncated > 0) log.warn({ truncated }, 'alerts left out, remove max_alerts from the webhook of Alertmanager');
    const counts = { proposed: 0, withdrawn: 0, ignored: 0, ...(truncated > 0 && { truncated }) };
    // A notification may have thousands of alerts.
    const slice = createTimeSlice(sliceMs);
    for (const alert of alerts) {
      if (slice.isOver) await slice.next();
      const repair = repairFor(this.#parts, alert, sender);
      if (!repair) counts.ignored += 1;
      else if (alert.status === 'resolved') counts[(await this.#withdraw(repair)) ? 'withdrawn' : 'ignored'] += 1;
      else if (await this.#joinExisting(repair)) counts.proposed += 1;
      else if (this.#reservePlan(repair)) {
        counts.proposed += 1;
        this.#enqueue(repair, sender);
      } else {
        counts.ignored += 1;
        metrics.countChangeEnd('suppressed');
      }
    }
    return counts;
  }

  /** Returns the repairs that could not be planned since the start, for an approver. */
  notProposed({ approver, covers }: Pick<Principal, 'approver' | 'covers'>): readonly NotProposed[] {
    if (!approver) return [];
    return [...this.#notProposed.values()]
      .filter(({ appliance }) => covers(appliance))
      .map(({ appliance, task, alerts, because }) => ({
        appliance,
        title: this.#redact(titleOf(task)),
        parameters: Object.fromEntries(Object.entries(task.params).map(([name, value]) => [name, this.#redact(value)])),
        alerts,
        because: this.#redact(because),
      }));
  }

  /** Removes secrets and control characters: a label of an alert may have anything. */
  #redact(text: string): string {
    return this.#parts.recorder.redact(text, noToken) ?? '';
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#planning.values());
  }

  /**
   * Adds the alert of a repair to the same repair that waits or is open. Also true if somebody has
   * decided on the same alert: it is not proposed again.
   */
  async #joinExisting(repair: Repair): Promise<boolean> {
    const { alerts } = repair;
    const waiting = this.#waiting.get(keyOf(repair));
    if (waiting) waiting.alerts = withAlerts(waiting.alerts, alerts);
    const same = this.#changesFor(repair);
    const open = same.filter(({ change }) => !isOver(change.state));
    for (const { change } of open)
      await this.#parts.changes.setAlerts(change.id, (firing) => withAlerts(firing, alerts));
    return open.length > 0 || waiting !== undefined || same.some(({ change }) => hasDecided(change, alerts));
  }

  /** Removes an alert that has ended from its repair; true if it was the last one of a proposal. */
  async #withdraw(repair: Repair): Promise<boolean> {
    const key = keyOf(repair);
    const without = (alerts: readonly AlertSource[]) => withoutAlerts(alerts, repair.alerts);
    for (const repairs of [this.#waiting, this.#notProposed]) {
      const known = repairs.get(key);
      if (known) known.alerts = without(known.alerts);
    }
    if (this.#notProposed.get(key)?.alerts.length === 0) this.#notProposed.delete(key);
    // A repair that is being planned is checked for alerts afterwards.
    const wasWaiting = this.#waiting.get(key)?.alerts.length === 0 && this.#waiting.delete(key);
    const proposals = this.#changesFor(repair).filter(
      ({ change, firingAlerts }) => change.state === 'proposed' && without(firingAlerts).length < firingAlerts.length,
    );
    const isLast = proposals.some(({ firingAlerts }) => without(firingAlerts).length === 0);
    for (const { change } of proposals) await this.#parts.changes.setAlerts(change.id, without);
    return isLast || wasWaiting;
  }

  /** Plans the repairs of an appliance one by one: in trouble it must get few calls at once. */
  #enqueue({ appliance, task, alerts }: Repair, sender: Caller): void {
    const { log } = this.#parts;
    const key = keyOf({ appliance, task });
    const repair: Repair = { appliance, task, alerts: withAlerts(this.#notProposed.get(key)?.alerts ?? [], alerts) };
    this.#waiting.set(key, repair);
    this.#notProposed.delete(key);
    const planned = (this.#planning.get(appliance) ?? Promise.resolve()).then(() => this.#plan(repair, sender));
    const settled = planned.catch((error: unknown) => {
      // With a full disk, the proposal stays as it is and expires. The next repair must not wait for ever.
      if (error instanceof AdminProblem) log.debug({ err: error, appliance }, 'alerts not stored');
      else log.error({ err: error, appliance }, 'no repair proposed');
    });
    this.#planning.set(appliance, settled);
  }

  async #plan(repair: Repair, sender: Caller): Promise<void> {
    const { signal } = this.#stopping;
    const key = keyOf(repair);
    if (signal.aborted || this.#waiting.get(key) !== repair) return;
    const proposed = await propose(this.#parts, repair, { ...sender, signal });
    // Its alerts may have ended, and others come, while it was planned.
    if (this.#waiting.get(key) === repair) this.#waiting.delete(key);
    const { alerts } = repair;
    if (typeof proposed !== 'string') await this.#parts.changes.setAlerts(proposed.id, () => alerts);
    else if (alerts.length > 0) this.#keepNotProposed(key, { ...repair, because: proposed });
  }

  /** Keeps the newest repairs that could not be planned, of each appliance. */
  #keepNotProposed(key: string, repair: NotProposedRepair): void {
    this.#notProposed.set(key, repair);
    const newestFirst = [...this.#notProposed].toReversed();
    const kept = new Set(withinShares(newestFirst, maxNotProposed, ([, { appliance }]) => appliance));
    for (const each of newestFirst) if (!kept.has(each)) this.#notProposed.delete(each[0]);
  }

  /** Reserves a plan for an appliance; false if it has too many proposals, or plans. */
  #reservePlan({ appliance }: Repair): boolean {
    const isOpen = ({ change }: ListedChange) => change.appliance === appliance && change.state === 'proposed';
    const open = this.#parts.changes.all.filter(isOpen).length;
    const waiting = [...this.#waiting.values()].filter((each) => each.appliance === appliance).length;
    return open + waiting < maxOpenPerAppliance && this.#plans.tryTake(appliance);
  }

  #changesFor(repair: Repair): readonly ListedChange[] {
    const key = keyOf(repair);
    return this.#parts.changes.all.filter(({ change }) => this.#keyOfChange(change) === key);
  }

  #keyOfChange(change: Change): string {
    const key = this.#keys.get(change) ?? keyOfTask(change.appliance, change.recipe, change.parameters);
    this.#keys.set(change, key);
    return key;
  }
}

/** Plans a repair. Resolves to its proposal, or to a sentence why there is none. */
async function propose(
  { changes, principals, log }: ProposalsParts,
  repair: Repair,
  sender: Caller,
): Promise<Change | string> {
  try {
    return await changes.propose(repair, { ...sender, principal: principals.plannerFor(sender.principal) });
  } catch (error) {
    const about = { appliance: repair.appliance, alert: repair.alerts[0]?.name };
    if (!(error instanceof AdminProblem)) {
      log.error({ err: error, ...about }, 'no repair proposed');
      return 'The exporter failed to plan it; its log has the reason.';
    }
    const because = `${error.title}: ${error.message} ${error.remedy}`;
    log.info({ because, ...about }, 'no repair proposed');
    return because;
  }
}

function otherVersion(version: string): AdminProblem {
  const name = version === '1' ? ', as a webhook of Grafana has' : '';
  return new AdminProblem('malformed_body', {
    detail: `The notification has the version ${oneLine(version, 20)}${name}; nothing was proposed.`,
    remedy:
      'Let an Alertmanager send it, with the receiver repairs of alertmanager.example.yml. A contact point of Grafana can be that Alertmanager.',
  });
}

/** Returns true for the same labels. The time may differ between two senders. */
function isSameAlert(one: AlertSource, other: AlertSource): boolean {
  return one.name === other.name && one.fingerprint === other.fingerprint;
}

function withAlerts(alerts: readonly AlertSource[], more: readonly AlertSource[]): readonly AlertSource[] {
  return [...alerts, ...withoutAlerts(more, alerts)].slice(0, Math.max(maxAlerts, alerts.length));
}

function withoutAlerts(alerts: readonly AlertSource[], ended: readonly AlertSource[]): readonly AlertSource[] {
  return alerts.filter((each) => !ended.some((other) => isSameAlert(each, other)));
}

function keyOf({ appliance, task }: Pick<Repair, 'appliance' | 'task'>): string {
  return keyOfTask(appliance, task.recipe.name, task.params);
}

/** Returns true if somebody has decided on this repair of one of the alerts before. */
function hasDecided(change: Change, alerts: readonly AlertSource[]): boolean {
  return (
    isOver(change.state) &&
    !isToRepeat(change) &&
    change.alerts.some((each) => alerts.some((other) => isDecided(change, each, other)))
  );
}

/** Returns true if the decision on an alert of a change also counts for another notification of it. */
function isDecided({ state, decision }: Change, decided: AlertSource, alert: AlertSource): boolean {
  if (alert.name === decided.name && alert.since === decided.since) return true;
  // A second sender gives the same alert another time, and may have seen it end alone.
  if (state === 'withdrawn' || !isSameAlert(alert, decided)) return false;
  return Date.parse(alert.since) <= Date.parse(decision?.at ?? '');
}

/** Returns true for a change that nobody decided on, or that was never sent: it is proposed again. */
function isToRepeat({ state, decision, outcome }: Change): boolean {
  if (state === 'expired') return true;
  if (state === 'cancelled') return decision?.by === '-';
  return state === 'failed' && outcome?.sent === false;
}
