import type { Caller, Principal, Principals } from '../policy/principal.ts';
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { type Static, Type } from 'typebox';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { Recorder } from '../calls/recorder.ts';
import { isOneOf } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { createTimeSlice, steadyNow } from '../../lib/time.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { alertsOf, type AlertSource, AlertSourceSchema, type Change, isOver } from './change.ts';
import type { Changes } from './changes.ts';
import { keyOfTask, titleOf } from './plan.ts';
import type { Task } from './task.ts';

const Texts = Type.Record(Type.String(), Type.String());

const AlertSchema = Type.Object({
  status: Type.Enum(['firing', 'resolved']),
  labels: Texts,
  annotations: Type.Optional(Texts),
  startsAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T[\\d:.]{8,18}(?:Z|[+-]\\d{2}:\\d{2})$' }),
});
type Alert = Static<typeof AlertSchema>;

/** The webhook of Alertmanager, version 4. */
export const NotificationSchema = Type.Object({
  version: Type.String({ description: '4' }),
  alerts: Type.Array(AlertSchema, { maxItems: 10_000 }),
  truncatedAlerts: Type.Optional(Type.Integer({ minimum: 0, description: 'How many more alerts there are.' })),
});
export type Notification = Static<typeof NotificationSchema>;

/** The numbers of alerts of a notification, by what became of them. */
export interface Taken {
  /** Planned in the background, or proposed already. */
  readonly proposed: number;
  readonly withdrawn: number;
  /** Without a repair, for appliances that the token does not cover, or too many. */
  readonly ignored: number;
  /** Left out by the sender; absent for none. */
  readonly truncated?: number;
}

/** The repair of a firing alert that could not be planned. */
export const NotProposedSchema = Type.Object({
  appliance: Type.String(),
  title: Type.String(),
  parameters: Texts,
  alert: AlertSourceSchema,
  alerts: Type.Immutable(Type.Array(AlertSourceSchema)),
  because: Type.String({ description: 'Why there is no proposal, and what to do.' }),
});
export type NotProposed = Readonly<Static<typeof NotProposedSchema>>;

/** Proposes the repairs of alerts, for a person to approve. */
export type Proposals = ReturnType<typeof createProposals>;

export interface ProposalsParts {
  readonly changes: Pick<Changes, 'ask' | 'setAlerts' | 'all'>;
  readonly recipes: () => readonly Recipe[];
  readonly appliances: ReadonlyMap<string, unknown>;
  readonly principals: Pick<Principals, 'plannerFor'>;
  readonly metrics: Pick<AdminMetrics, 'changeEnded'>;
  readonly recorder: Pick<Recorder, 'scrubbed'>;
  readonly log: Logger;
}

/** A repair, and an alert that asks for it. */
interface Wanted {
  readonly appliance: string;
  readonly task: Extract<Task, { recipe: Recipe }>;
  readonly alert: AlertSource;
}

/** A repair that waits to be planned, or could not be, with all alerts that ask for it. */
interface Repairing extends Omit<Wanted, 'alert'> {
  alerts: readonly AlertSource[];
}

/** The Alertmanager whose token it is; it waits for nothing. */
type Notifier = Omit<Caller, 'signal'>;

type Refused = Repairing & { readonly because: string };

export const maxOpenPerAppliance = 5;
/** Limit of the repairs that could not be planned. */
const maxRefused = 100;
/** Each plan asks the appliance several questions, whether or not it can be made. */
export const maxPlansPerMinute = 10;
const minuteMs = 60_000;
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;
/** Alerts that are kept of one repair; a sender may invent labels without end. */
const maxAlerts = 100;

/** The parts, and the repairs by {@link keyOf}. */
interface ProposalsState extends ProposalsParts {
  readonly stopping: AbortController;
  /** Repairs that wait to be planned, or are being planned. */
  readonly waiting: Map<string, Repairing>;
  /** Repairs that could not be planned, and why. */
  readonly refused: Map<string, Refused>;
  /** The plans under way, by appliance. */
  readonly planning: Map<string, Promise<void>>;
  readonly isTooOften: (wanted: Wanted) => boolean;
}

export function createProposals(parts: ProposalsParts) {
  const stopping = new AbortController();
  const refused = new Map<string, Refused>();
  const planning = new Map<string, Promise<void>>();
  const state: ProposalsState = {
    ...parts,
    stopping,
    refused,
    planning,
    waiting: new Map(),
    isTooOften: createPlanLimit(),
  };
  return {
    take: (notification: Notification, notifier: Notifier) => take(state, notification, notifier),
    /** Returns what could not be proposed to this approver since the start. */
    notProposed: ({ approver, covers }: Pick<Principal, 'approver' | 'covers'>): readonly NotProposed[] =>
      approver ? [...refused.values()].flatMap((each) => (covers(each.appliance) ? shownRefused(each) : [])) : [],
    async close(): Promise<void> {
      stopping.abort();
      await Promise.all(planning.values());
    },
  };
}

/**
 * Takes a notification up. Plans in the background: Alertmanager waits for nothing. Rejects with an
 * {@link AdminProblem} for that of another program.
 */
async function take(state: ProposalsState, notification: Notification, notifier: Notifier): Promise<Taken> {
  const { version, alerts, truncatedAlerts: truncated = 0 } = notification;
  if (version !== '4') throw otherVersion(version);
  if (truncated > 0)
    state.log.warn({ truncated }, 'alerts left out, remove max_alerts from the webhook of Alertmanager');
  const taken = { proposed: 0, withdrawn: 0, ignored: 0, ...(truncated > 0 && { truncated }) };
  // A notification may have thousands of alerts.
  const slice = createTimeSlice(sliceMs);
  for (const [index, each] of alerts.entries()) {
    if (index % 100 === 99 && slice.isOver) await slice.next();
    const wanted = wantedBy(state, each, notifier);
    if (!wanted) taken.ignored += 1;
    else if (each.status === 'resolved') taken[(await withdraw(state, wanted)) ? 'withdrawn' : 'ignored'] += 1;
    else if (await join(state, wanted)) taken.proposed += 1;
    else if (isTooMany(state, wanted) || state.isTooOften(wanted)) {
      taken.ignored += 1;
      state.metrics.changeEnded('suppressed');
    } else {
      taken.proposed += 1;
      enqueue(state, wanted, notifier);
    }
  }
  return taken;
}

function otherVersion(version: string): AdminProblem {
  const name = version === '1' ? ', as a webhook of Grafana has' : '';
  return new AdminProblem('malformed_body', {
    detail: `The notification has the version ${oneLine(version, 20)}${name}; nothing was proposed.`,
    remedy:
      'Let an Alertmanager send it, with the receiver repairs of alertmanager.example.yml. A contact point of Grafana can be that Alertmanager.',
  });
}

/** Adds an alert to the same repair of another one; false if there is none. */
async function join(state: ProposalsState, wanted: Wanted): Promise<boolean> {
  const repairing = state.waiting.get(keyOf(wanted));
  if (repairing) repairing.alerts = withAlert(repairing.alerts, wanted.alert);
  const open = openLike(state, wanted);
  for (const { change } of open) await state.changes.setAlerts(change.id, (alerts) => withAlert(alerts, wanted.alert));
  return open.length > 0 || repairing !== undefined || isDecided(state, wanted);
}

/** Takes an alert that has ended from its repair; true if it was the last one of a proposal. */
async function withdraw(state: ProposalsState, wanted: Wanted): Promise<boolean> {
  const { waiting, refused, changes } = state;
  const key = keyOf(wanted);
  const without = (alerts: readonly AlertSource[]) => alerts.filter((each) => !isSameAlert(each, wanted.alert));
  for (const repairs of [waiting, refused]) {
    const repairing = repairs.get(key);
    if (repairing) repairing.alerts = without(repairing.alerts);
  }
  if (refused.get(key)?.alerts.length === 0) refused.delete(key);
  // One that is being planned looks at its alerts afterwards.
  const wasWaiting = waiting.get(key)?.alerts.length === 0 && waiting.delete(key);
  const its = openLike(state, wanted).filter(
    ({ change, alerts }) => change.state === 'proposed' && without(alerts).length < alerts.length,
  );
  for (const { change } of its) await changes.setAlerts(change.id, without);
  return its.some(({ alerts }) => without(alerts).length === 0) || wasWaiting;
}

/** Plans the repairs of an appliance one by one: in trouble it must get few calls at once. */
function enqueue(state: ProposalsState, wanted: Wanted, notifier: Notifier): void {
  const { appliance, task, alert } = wanted;
  const { planning, refused, waiting, log } = state;
  const key = keyOf(wanted);
  const repairing: Repairing = { appliance, task, alerts: withAlert(refused.get(key)?.alerts ?? [], alert) };
  waiting.set(key, repairing);
  refused.delete(key);
  const planned = (planning.get(appliance) ?? Promise.resolve()).then(() => planNext(state, repairing, notifier));
  // Such as a full disk: the proposal expires, and the next one must not wait for ever.
  planning.set(
    appliance,
    planned.catch((error: unknown) => log.debug({ err: error, appliance }, 'proposal not withdrawn')),
  );
}

async function planNext(state: ProposalsState, repairing: Repairing, notifier: Notifier): Promise<void> {
  const { stopping, waiting, refused, changes } = state;
  const key = keyOf(repairing);
  if (stopping.signal.aborted || waiting.get(key) !== repairing) return;
  const proposed = await propose(state, repairing, { ...notifier, signal: stopping.signal });
  // Its alerts may have ended, and others come, while it was planned.
  if (waiting.get(key) === repairing) waiting.delete(key);
  const { alerts } = repairing;
  if ('id' in proposed) await changes.setAlerts(proposed.id, () => alerts);
  else if (alerts.length > 0) keep(refused, key, { ...repairing, because: proposed.because });
}

/** Keeps the newest of what could not be planned. */
function keep(refused: Map<string, Refused>, key: string, repairing: Refused): void {
  refused.set(key, repairing);
  const [oldest] = refused.keys();
  if (refused.size > maxRefused && oldest !== undefined) refused.delete(oldest);
}

/** Returns a function that counts a plan, and is true if its appliance has had too many. */
function createPlanLimit(): (wanted: Wanted) => boolean {
  /** When the plans of the last minute were wanted, by appliance. */
  const starts = new Map<string, readonly number[]>();
  return ({ appliance }) => {
    const now = steadyNow();
    const recent = (starts.get(appliance) ?? []).filter((at) => now - at < minuteMs);
    starts.set(appliance, recent.length < maxPlansPerMinute ? [...recent, now] : recent);
    return recent.length >= maxPlansPerMinute;
  };
}

function shownRefused({ appliance, task, alerts, because }: Refused): NotProposed | [] {
  const [alert] = alerts;
  return alert ? { appliance, title: titleOf(task), parameters: task.parameters, alert, alerts, because } : [];
}

/** Returns true for the same labels. The time may differ between two senders. */
function isSameAlert(one: AlertSource, other: AlertSource): boolean {
  return one.name === other.name && one.fingerprint === other.fingerprint;
}

function withAlert(alerts: readonly AlertSource[], alert: AlertSource): readonly AlertSource[] {
  const isKept = alerts.length >= maxAlerts || alerts.some((each) => isSameAlert(each, alert));
  return isKept ? alerts : [...alerts, alert];
}

/** Returns undefined for an alert without a repair, or for an appliance that is not the token's. */
function wantedBy(
  { recipes, appliances, recorder }: ProposalsParts,
  { labels, annotations, startsAt }: Alert,
  { principal, token }: Notifier,
): Wanted | undefined {
  const { alertname = '', appliance = '' } = labels;
  const repair = repairOf(labels);
  const recipe = recipes().find(({ name }) => name === repair?.recipe);
  if (!repair || !recipe || !appliances.has(appliance) || !principal.covers(appliance)) return undefined;
  const parameters = Object.fromEntries(
    Object.entries(repair.parameters).flatMap(([name, label]) => {
      const value = labels[label];
      return value === undefined || value === '' ? [] : [[name, valueOf(label, value)]];
    }),
  );
  // Without a folder of renewed certificates, a delivery takes no certificate by its name.
  if (!Object.keys(repair.parameters).every((name) => Object.hasOwn(recipe.parameters, name))) return undefined;
  if (Object.entries(recipe.parameters).some(([name, isRequired]) => isRequired && parameters[name] === undefined))
    return undefined;
  const summary = annotations?.summary;
  const alert = {
    name: alertname,
    summary: summary === undefined ? null : oneLine(recorder.scrubbed(summary, token), 300),
    since: startsAt,
    fingerprint: fingerprintOf(labels),
  };
  return { appliance, task: { recipe, parameters }, alert };
}

function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}

const maxValueLength = 200;

/** A backend whose address is not unique is labelled `10.0.0.1:80#3`, with its id at the end. */
function valueOf(label: string, value: string): string {
  const id = label === 'backend' ? /#([^#]+)$/.exec(value)?.[1] : undefined;
  return (id ?? value).slice(0, maxValueLength);
}

function keyOf({ appliance, task }: Pick<Wanted, 'appliance' | 'task'>): string {
  return keyOfTask(appliance, task.recipe.name, task.parameters);
}

type Known = Changes['all'][number];

/** Returns the changes that do the same. */
function changesLike({ changes }: ProposalsParts, wanted: Wanted): readonly Known[] {
  const key = keyOf(wanted);
  return changes.all.filter(
    ({ change: { appliance, recipe, parameters } }) => keyOfTask(appliance, recipe, parameters) === key,
  );
}

function openLike(parts: ProposalsParts, wanted: Wanted): readonly Known[] {
  return changesLike(parts, wanted).filter(({ change }) => !isOver(change.state));
}

/** Returns true if somebody has decided on the same repair of the same alert before. */
function isDecided(parts: ProposalsParts, wanted: Wanted): boolean {
  const { name, since } = wanted.alert;
  return changesLike(parts, wanted).some(
    ({ change }) =>
      isOver(change.state) &&
      !isToRepeat(change) &&
      alertsOf(change).some((each) => each.name === name && each.since === since),
  );
}

/** Returns true for what nobody decided, or was never sent: it is proposed again. */
function isToRepeat({ state, decision, outcome }: Change): boolean {
  if (state === 'expired') return true;
  if (state === 'cancelled') return decision?.by === '-';
  return state === 'failed' && outcome?.sent === false;
}

function isTooMany({ changes, waiting }: ProposalsState, { appliance }: Wanted): boolean {
  const open = changes.all.filter(
    ({ change: { appliance: name, state } }) => name === appliance && state === 'proposed',
  ).length;
  const planned = [...waiting.values()].filter((each) => each.appliance === appliance).length;
  return open + planned >= maxOpenPerAppliance;
}

/** Plans a repair, and resolves to the id of its proposal, or to why there is none. */
async function propose(
  parts: ProposalsParts,
  { appliance, task, alerts }: Repairing,
  notifier: Caller,
): Promise<{ readonly id: string } | { readonly because: string }> {
  const { changes, principals, metrics, log } = parts;
  try {
    const principal = principals.plannerFor(notifier.principal);
    const asked = { appliance, task, reason: undefined, force: false, alerts };
    return await changes.ask(asked, { ...notifier, principal });
  } catch (error) {
    if (error instanceof AdminProblem && error.code === 'too_many_changes') metrics.changeEnded('suppressed');
    if (!(error instanceof AdminProblem)) {
      log.error({ err: error, appliance, alert: alerts[0]?.name }, 'no repair proposed');
      return { because: 'The exporter failed to plan it; its log has the reason.' };
    }
    const because = `${error.title}: ${error.message} ${error.remedy}`;
    log.info({ because, appliance, alert: alerts[0]?.name }, 'no repair proposed');
    return { because };
  }
}

/** The repair of an alert: a recipe, and the labels that are its parameters. */
export interface Repair {
  readonly recipe: string;
  /** Parameters of the recipe, each with the label that has its value. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Labels that the alert must have, with their values: the repair helps in no other case. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
}

const farm = { farm: 'farm' };

/** A delivery can be taken back: the certificate before it stays in the store. */
const delivery: Repair = { recipe: 'deliver', parameters: { certificate: 'file' } };

/**
 * The repairs of the alerts in alerts/*.rules.yml. Only what can be taken back is proposed, and
 * nothing without a person.
 */
export const repairs: Readonly<Record<string, Repair>> = {
  // A critical farm runs, and has no backend that is up; the proxy of a silent one hangs.
  ZlbFarmDown: { recipe: 'restart-farm', parameters: farm, only: { status: ['down', 'silent'] } },
  ZlbFarmNeedsRestart: { recipe: 'restart-farm', parameters: farm },
  ZlbCertificateExpirySoon: delivery,
  ZlbCertificateExpiryImminent: delivery,
  ZlbServedCertificateDiffers: { recipe: 'restart-farm', parameters: farm },
  ZlbMaintenanceForgotten: {
    recipe: 'restore-backend',
    parameters: { farm: 'farm', service: 'service', backend: 'backend' },
  },
  ZlbBackupTooOld: { recipe: 'backup', parameters: {} },
};

/** Returns the repair of an alert with these labels; undefined if it has none. */
export function repairOf(labels: Readonly<Record<string, string>>): Repair | undefined {
  const { alertname } = labels;
  const repair = isOneOf(Object.keys(repairs), alertname) ? repairs[alertname] : undefined;
  const fits = Object.entries(repair?.only ?? {}).every(([label, values]) => isOneOf(values, labels[label]));
  return fits ? repair : undefined;
}
