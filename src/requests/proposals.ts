import type { Logger } from 'pino';
import { type Static, Type } from 'typebox';
import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import type { Principal, Principals } from '../gateway/principal.ts';
import { AdminProblem } from '../gateway/problem.ts';
import { oneLine } from '../lib/text.ts';
import { steadyNow } from '../lib/time.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { type AlertSource, AlertSourceSchema, type ChangeRequest, isOver } from './change-request.ts';
import type { ChangeRequests } from './change-requests.ts';
import { type Change, titleOf } from './plan.ts';
import { repairOf } from './repairs.ts';
import type { Actor } from './request-book.ts';

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
  version: Type.Literal('4'),
  alerts: Type.Array(AlertSchema, { maxItems: 10_000 }),
});
export type Notification = Static<typeof NotificationSchema>;

/** The numbers of alerts of a notification, by what became of them. */
export interface Taken {
  /** Planned in the background, or proposed already. */
  readonly proposed: number;
  readonly withdrawn: number;
  /** Without a repair, for appliances that the token does not cover, or too many. */
  readonly ignored: number;
}

/** The repair of a firing alert that could not be planned. */
export const NotProposedSchema = Type.Object({
  appliance: Type.String(),
  title: Type.String(),
  parameters: Texts,
  alert: AlertSourceSchema,
  because: Type.String({ description: 'Why there is no proposal, and what to do.' }),
});
export type NotProposed = Readonly<Static<typeof NotProposedSchema>>;

/** Proposes the repairs of alerts, for a person to approve. */
export type Proposals = ReturnType<typeof createProposals>;

export interface ProposalsParts {
  readonly changeRequests: Pick<ChangeRequests, 'ask' | 'withdraw' | 'all'>;
  readonly recipes: () => readonly Recipe[];
  readonly appliances: ReadonlyMap<string, unknown>;
  readonly principals: Pick<Principals, 'plannerFor'>;
  readonly metrics: Pick<AdminMetrics, 'changeRequestEnded'>;
  readonly log: Logger;
}

/** A repair that an alert asks for. */
interface Wanted {
  readonly appliance: string;
  readonly change: Change;
  readonly alert: AlertSource;
}

const maxOpenPerAppliance = 5;
/** Limit of the repairs that wait to be planned, and of those that could not be. */
const maxWaiting = 100;
/** Each plan asks the appliance several questions, whether or not it can be made. */
const maxPlansPerMinute = 10;
const minuteMs = 60_000;

export function createProposals(parts: ProposalsParts) {
  const stopping = new AbortController();
  /** Repairs that wait to be planned, or are being planned, by appliance and title. */
  const waiting = new Map<string, Wanted>();
  const refused = new Map<string, NotProposed>();
  /** The plans under way, by appliance. */
  const planning = new Map<string, Promise<void>>();
  /** When the plans of the last minute were wanted, by appliance. */
  const starts = new Map<string, readonly number[]>();

  function isTooOften({ appliance }: Wanted): boolean {
    const now = steadyNow();
    const recent = (starts.get(appliance) ?? []).filter((at) => now - at < minuteMs);
    starts.set(appliance, recent.length < maxPlansPerMinute ? [...recent, now] : recent);
    return recent.length >= maxPlansPerMinute;
  }

  function refuse(key: string, { appliance, change, alert }: Wanted, because: string): void {
    refused.set(key, { appliance, title: titleOf(change), parameters: change.parameters, alert, because });
    const [oldest] = refused.keys();
    if (refused.size > maxWaiting && oldest !== undefined) refused.delete(oldest);
  }

  /** Plans the repairs of an appliance one by one: in trouble it must get few calls at once. */
  function plan(wanted: Wanted, sender: Omit<Actor, 'signal'>): void {
    const key = keyOf(wanted);
    waiting.set(key, wanted);
    refused.delete(key);
    const { appliance } = wanted;
    const planned = (planning.get(appliance) ?? Promise.resolve()).then(async () => {
      if (stopping.signal.aborted || waiting.get(key) !== wanted) return;
      const proposed = await propose(parts, wanted, { ...sender, signal: stopping.signal });
      // The alert may have ended while it was planned.
      const fires = waiting.delete(key);
      if (fires && 'because' in proposed) refuse(key, wanted, proposed.because);
      if (!fires && 'id' in proposed) await parts.changeRequests.withdraw(proposed.id);
    });
    // Such as a full disk: the proposal expires, and the next one must not wait for ever.
    planning.set(
      appliance,
      planned.catch((error: unknown) => parts.log.debug({ err: error, appliance }, 'proposal not withdrawn')),
    );
  }

  async function withdraw({ appliance, change, alert }: Wanted): Promise<boolean> {
    const key = keyOf({ appliance, change });
    refused.delete(key);
    const wasWaiting = waiting.get(key)?.alert.name === alert.name && waiting.delete(key);
    const proposed = requestsLike(parts, { appliance, change }).filter(
      (each) => !isOver(each.state) && each.alert?.name === alert.name,
    );
    for (const { id } of proposed) await parts.changeRequests.withdraw(id);
    return wasWaiting || proposed.length > 0;
  }

  return {
    /** Takes a notification up. Plans in the background: Alertmanager waits for nothing. */
    async take({ alerts }: Notification, sender: Omit<Actor, 'signal'>): Promise<Taken> {
      const taken = { proposed: 0, withdrawn: 0, ignored: 0 };
      for (const each of alerts) {
        const wanted = wantedBy(parts, each, sender);
        if (!wanted) taken.ignored += 1;
        else if (each.status === 'resolved') taken[(await withdraw(wanted)) ? 'withdrawn' : 'ignored'] += 1;
        else if (isKnown(parts, wanted) || waiting.has(keyOf(wanted))) taken.proposed += 1;
        else if (isTooMany(parts, wanted, waiting) || isTooOften(wanted)) {
          taken.ignored += 1;
          parts.metrics.changeRequestEnded('suppressed');
        } else {
          taken.proposed += 1;
          plan(wanted, sender);
        }
      }
      return taken;
    },
    /** Returns what could not be proposed to this approver since the start. */
    notProposed: ({ approver, covers }: Pick<Principal, 'approver' | 'covers'>): readonly NotProposed[] =>
      approver ? [...refused.values()].filter(({ appliance }) => covers(appliance)) : [],
    async close(): Promise<void> {
      stopping.abort();
      await Promise.all(planning.values());
    },
  };
}

/** Returns undefined for an alert without a repair, or for an appliance that is not the token's. */
function wantedBy(
  { recipes, appliances }: ProposalsParts,
  { labels, annotations, startsAt }: Alert,
  { principal }: Pick<Actor, 'principal'>,
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
  if (Object.entries(recipe.parameters).some(([name, isRequired]) => isRequired && parameters[name] === undefined))
    return undefined;
  const summary = annotations?.summary;
  const alert = {
    name: alertname,
    summary: summary === undefined ? null : oneLine(summary, 300),
    since: startsAt,
  };
  return { appliance, change: { recipe, parameters }, alert };
}

const maxValueLength = 200;

/** A backend whose address is not unique is labelled `10.0.0.1:80#3`, with its id at the end. */
function valueOf(label: string, value: string): string {
  const id = label === 'backend' ? /#([^#]+)$/.exec(value)?.[1] : undefined;
  return (id ?? value).slice(0, maxValueLength);
}

function keyOf({ appliance, change }: Pick<Wanted, 'appliance' | 'change'>): string {
  return `${appliance} ${titleOf(change)}`;
}

/** Returns the requests for the same change. */
function requestsLike(
  { changeRequests }: ProposalsParts,
  { appliance, change }: Pick<Wanted, 'appliance' | 'change'>,
): readonly ChangeRequest[] {
  const wanted = titleOf(change);
  return changeRequests.all.filter((each) => each.appliance === appliance && each.title === wanted);
}

/**
 * Returns true if the same repair is open, or if somebody has decided on the same alert before. One
 * that expired is proposed again.
 */
function isKnown(parts: ProposalsParts, wanted: Wanted): boolean {
  return requestsLike(parts, wanted).some(
    ({ state, alert }) =>
      !isOver(state) ||
      (state !== 'expired' && alert?.name === wanted.alert.name && alert.since === wanted.alert.since),
  );
}

function isTooMany(
  { changeRequests }: ProposalsParts,
  { appliance }: Wanted,
  waiting: ReadonlyMap<string, Wanted>,
): boolean {
  const open = changeRequests.all.filter((each) => each.appliance === appliance && each.state === 'proposed').length;
  const planned = [...waiting.values()].filter((each) => each.appliance === appliance).length;
  return open + planned >= maxOpenPerAppliance || waiting.size >= maxWaiting;
}

/** Plans a repair, and resolves to the id of its proposal, or to why there is none. */
async function propose(
  parts: ProposalsParts,
  { appliance, change, alert }: Wanted,
  sender: Actor,
): Promise<{ readonly id: string } | { readonly because: string }> {
  const { changeRequests, principals, metrics, log } = parts;
  try {
    const principal = principals.plannerFor(sender.principal);
    const asked = { appliance, change, reason: undefined, force: false, alert };
    return await changeRequests.ask(asked, { ...sender, principal });
  } catch (error) {
    if (error instanceof AdminProblem && error.code === 'too_many_requests') metrics.changeRequestEnded('suppressed');
    if (!(error instanceof AdminProblem)) {
      log.error({ err: error, appliance, alert: alert.name }, 'no repair proposed');
      return { because: 'The exporter failed to plan it; its log has the reason.' };
    }
    const because = `${error.title}: ${error.message} ${error.remedy}`;
    log.info({ because, appliance, alert: alert.name }, 'no repair proposed');
    return { because };
  }
}
