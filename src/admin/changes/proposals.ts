import type { Logger } from 'pino';
import { Secret } from '../../lib/secret.ts';
import { type Static, Type } from 'typebox';
import { Allowance } from '../../lib/allowance.ts';
import { oneLine } from '../../lib/text.ts';
import { createTimeSlice } from '../../lib/time.ts';
import { withinShares } from '../../lib/within-shares.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import type { Caller, Principal, Principals } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { type AlertSource, AlertSourceSchema, type Change, isOver } from './change.ts';
import type { Changes } from './changes.ts';
import { titleOf } from './plan.ts';
import {
  keyOfTask,
  type RepairParts,
  type Notification,
  type AlertSender,
  type WantedRepair,
  wantedBy,
} from './repairs.ts';

/** The numbers of alerts of a notification, by what became of them. */
export const TakenSchema = Type.Object({
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
  readonly changes: Pick<Changes, 'ask' | 'setAlerts' | 'all'>;
  readonly principals: Pick<Principals, 'plannerFor'>;
  readonly metrics: Pick<AdminMetrics, 'changeEnded'>;
  readonly log: Logger;
}

/** These texts have no caller whose token must be removed; other tokens are found by their digests. */
const noToken = new Secret('');

/** A repair that waits to be planned, or could not be, with all alerts that ask for it. */
interface PendingRepair extends Omit<WantedRepair, 'alert'> {
  alerts: readonly AlertSource[];
}

type RefusedRepair = PendingRepair & { readonly because: string };

/** A change, and the alerts of it that fire now. */
type KnownChange = Changes['all'][number];

export const maxOpenPerAppliance = 5;
/** Limit of the repairs that could not be planned. */
const maxRefused = 100;
/** Each plan asks the appliance several questions, whether or not it can be made. */
export const maxPlansPerMinute = 10;
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;
/** Alerts that are kept of one repair; a sender may invent labels without end. */
const maxAlerts = 100;

/** Proposes the repairs of alerts, for a person to approve. */
export class Proposals {
  readonly #parts: ProposalsParts;
  readonly #stopping = new AbortController();
  /** Repairs that wait to be planned, or are being planned, by {@link keyOf}. */
  readonly #waiting = new Map<string, PendingRepair>();
  readonly #refused = new Map<string, RefusedRepair>();
  readonly #planning = new Map<string, Promise<void>>();
  readonly #plans = new Allowance(maxPlansPerMinute);
  /** A notification has thousands of alerts, each of which is compared with all changes. */
  readonly #keys = new WeakMap<Change, string>();

  constructor(parts: ProposalsParts) {
    this.#parts = parts;
  }

  /**
   * Takes a notification up. Plans in the background: Alertmanager waits for nothing. Rejects with
   * an {@link AdminProblem} for that of another program.
   */
  async take(notification: Notification, sender: AlertSender): Promise<Static<typeof TakenSchema>> {
    const { metrics, log } = this.#parts;
    const { version, alerts, truncatedAlerts: truncated = 0 } = notification;
    if (version !== '4') throw otherVersion(version);
    if (truncated > 0) log.warn({ truncated }, 'alerts left out, remove max_alerts from the webhook of Alertmanager');
    const taken = { proposed: 0, withdrawn: 0, ignored: 0, ...(truncated > 0 && { truncated }) };
    // A notification may have thousands of alerts.
    const slice = createTimeSlice(sliceMs);
    for (const each of alerts) {
      if (slice.isOver) await slice.next();
      const wanted = wantedBy(this.#parts, each, sender);
      if (!wanted) taken.ignored += 1;
      else if (each.status === 'resolved') taken[(await this.#withdraw(wanted)) ? 'withdrawn' : 'ignored'] += 1;
      else if (await this.#join(wanted)) taken.proposed += 1;
      else if (this.#reservePlan(wanted)) {
        taken.proposed += 1;
        this.#enqueue(wanted, sender);
      } else {
        taken.ignored += 1;
        metrics.changeEnded('suppressed');
      }
    }
    return taken;
  }

  /** Returns what could not be proposed to this approver since the start. */
  notProposed({ approver, covers }: Pick<Principal, 'approver' | 'covers'>): readonly NotProposed[] {
    if (!approver) return [];
    return [...this.#refused.values()]
      .filter(({ appliance }) => covers(appliance))
      .map(({ appliance, task, alerts, because }) => ({
        appliance,
        title: this.#shown(titleOf(task)),
        parameters: Object.fromEntries(
          Object.entries(task.parameters).map(([name, value]) => [name, this.#shown(value)]),
        ),
        alerts,
        because: this.#shown(because),
      }));
  }

  /** Removes secrets and control characters: a label of an alert may have anything. */
  #shown(text: string): string {
    return this.#parts.recorder.redact(text, noToken) ?? '';
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#planning.values());
  }

  /**
   * Adds an alert to a repair that waits or is open. Also true if somebody has decided on the same
   * alert: it is not proposed again.
   */
  async #join(wanted: WantedRepair): Promise<boolean> {
    const { alert } = wanted;
    const repair = this.#waiting.get(keyOf(wanted));
    if (repair) repair.alerts = withAlert(repair.alerts, alert);
    const same = this.#changesLike(wanted);
    const open = same.filter(({ change }) => !isOver(change.state));
    for (const { change } of open) await this.#parts.changes.setAlerts(change.id, (alerts) => withAlert(alerts, alert));
    return open.length > 0 || repair !== undefined || same.some(({ change }) => hasDecided(change, alert));
  }

  /** Takes an alert that has ended from its repair; true if it was the last one of a proposal. */
  async #withdraw(wanted: WantedRepair): Promise<boolean> {
    const key = keyOf(wanted);
    const without = (alerts: readonly AlertSource[]) => alerts.filter((each) => !isSameAlert(each, wanted.alert));
    for (const repairs of [this.#waiting, this.#refused]) {
      const repair = repairs.get(key);
      if (repair) repair.alerts = without(repair.alerts);
    }
    if (this.#refused.get(key)?.alerts.length === 0) this.#refused.delete(key);
    // One that is being planned looks at its alerts afterwards.
    const wasWaiting = this.#waiting.get(key)?.alerts.length === 0 && this.#waiting.delete(key);
    const its = this.#changesLike(wanted).filter(
      ({ change, alerts }) => change.state === 'proposed' && without(alerts).length < alerts.length,
    );
    for (const { change } of its) await this.#parts.changes.setAlerts(change.id, without);
    return its.some(({ alerts }) => without(alerts).length === 0) || wasWaiting;
  }

  /** Plans the repairs of an appliance one by one: in trouble it must get few calls at once. */
  #enqueue(wanted: WantedRepair, sender: AlertSender): void {
    const { appliance, task, alert } = wanted;
    const key = keyOf(wanted);
    const repair: PendingRepair = { appliance, task, alerts: withAlert(this.#refused.get(key)?.alerts ?? [], alert) };
    this.#waiting.set(key, repair);
    this.#refused.delete(key);
    const planned = (this.#planning.get(appliance) ?? Promise.resolve()).then(() => this.#plan(repair, sender));
    // Such as a full disk: the proposal expires, and the next one must not wait for ever.
    this.#planning.set(
      appliance,
      planned.catch((error: unknown) => this.#parts.log.debug({ err: error, appliance }, 'proposal not withdrawn')),
    );
  }

  async #plan(repair: PendingRepair, sender: AlertSender): Promise<void> {
    const { signal } = this.#stopping;
    const key = keyOf(repair);
    if (signal.aborted || this.#waiting.get(key) !== repair) return;
    const proposed = await propose(this.#parts, repair, { ...sender, signal });
    // Its alerts may have ended, and others come, while it was planned.
    if (this.#waiting.get(key) === repair) this.#waiting.delete(key);
    const { alerts } = repair;
    if ('id' in proposed) await this.#parts.changes.setAlerts(proposed.id, () => alerts);
    else if (alerts.length > 0) this.#refuse(key, { ...repair, because: proposed.because });
  }

  /** Keeps the newest of what could not be planned, of each appliance. */
  #refuse(key: string, repair: RefusedRepair): void {
    this.#refused.set(key, repair);
    const newestFirst = [...this.#refused].toReversed();
    const kept = new Set(withinShares(newestFirst, maxRefused, ([, { appliance }]) => appliance));
    for (const each of newestFirst) if (!kept.has(each)) this.#refused.delete(each[0]);
  }

  /** Takes a plan from the allowance of an appliance; false if it has too many proposals, or plans. */
  #reservePlan({ appliance }: WantedRepair): boolean {
    const isOpen = ({ change }: KnownChange) => change.appliance === appliance && change.state === 'proposed';
    const open = this.#parts.changes.all.filter(isOpen).length;
    const planned = [...this.#waiting.values()].filter((each) => each.appliance === appliance).length;
    if (open + planned >= maxOpenPerAppliance || this.#plans.secondsUntil(appliance, 1) > 0) return false;
    this.#plans.take(appliance, 1);
    return true;
  }

  #changesLike(wanted: WantedRepair): readonly KnownChange[] {
    const key = keyOf(wanted);
    return this.#parts.changes.all.filter(({ change }) => this.#keyOfChange(change) === key);
  }

  #keyOfChange(change: Change): string {
    const key = this.#keys.get(change) ?? keyOfTask(change.appliance, change.recipe, change.parameters);
    this.#keys.set(change, key);
    return key;
  }
}

/** Plans a repair, and resolves to the id of its proposal, or to why there is none. */
async function propose(
  { changes, principals, log }: ProposalsParts,
  { appliance, task, alerts }: PendingRepair,
  sender: Caller,
): Promise<{ readonly id: string } | { readonly because: string }> {
  try {
    const principal = principals.plannerFor(sender.principal);
    const wanted = { appliance, task, reason: undefined, force: false, alerts };
    return await changes.ask(wanted, { ...sender, principal });
  } catch (error) {
    const about = { appliance, alert: alerts[0]?.name };
    if (!(error instanceof AdminProblem)) {
      log.error({ err: error, ...about }, 'no repair proposed');
      return { because: 'The exporter failed to plan it; its log has the reason.' };
    }
    const because = `${error.title}: ${error.message} ${error.remedy}`;
    log.info({ because, ...about }, 'no repair proposed');
    return { because };
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

function withAlert(alerts: readonly AlertSource[], alert: AlertSource): readonly AlertSource[] {
  const isKept = alerts.length >= maxAlerts || alerts.some((each) => isSameAlert(each, alert));
  return isKept ? alerts : [...alerts, alert];
}

function keyOf({ appliance, task }: Pick<WantedRepair, 'appliance' | 'task'>): string {
  return keyOfTask(appliance, task.recipe.name, task.parameters);
}

/** Returns true if somebody has decided on this repair of the same alert before. */
function hasDecided(change: Change, { name, since }: AlertSource): boolean {
  return (
    isOver(change.state) &&
    !isToRepeat(change) &&
    change.alerts.some((each) => each.name === name && each.since === since)
  );
}

/** Returns true for what nobody decided, or was never sent: it is proposed again. */
function isToRepeat({ state, decision, outcome }: Change): boolean {
  if (state === 'expired') return true;
  if (state === 'cancelled') return decision?.by === '-';
  return state === 'failed' && outcome?.sent === false;
}
