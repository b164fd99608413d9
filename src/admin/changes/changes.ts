// Owns changes from their submission to their end: the plan, who approves or denies it, the steps.
// Only the ChangeStore replaces a stored change, one at a time, and each state is on disk before the
// next step. Changes of different objects may run at the same time. The way of an alert to its
// approved repair, in order of time:
//
// 1. http/change-routes.ts takes the notification; proposals.ts and repairs.ts find the repair: a
//    recipe with parameters. Proposals owns the alerts of a repair until its change is stored.
// 2. changes.ts submits it. plan.ts runs the recipe for its steps (recipes/), and makes a dry run of
//    each call (change-calls.ts, calls/gateway.ts). The steps are only in memory.
// 3. change-store.ts stores the change as `proposed`, with its plan and digest. From here on the
//    store has the alerts that fire now; those on disk follow.
// 4. decide.ts: a person approves the digest. The plan is made again, with the same key for its
//    digest, and must be the same.
// 5. run.ts runs the steps; each call goes through calls/gateway.ts, which holds it to the plan.
// 6. recover.ts ends what a stop interrupted, and what nobody has decided in time.

import { randomBytes } from 'node:crypto';
import type { Caller, Principal } from '../policy/principal.ts';
import { frozenProblem } from '../policy/freeze.ts';
import { AdminProblem, malformedBody } from '../policy/problem.ts';
import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { AdminCall } from '../calls/admin-call.ts';
import { confirmationOf } from '../calls/approval.ts';
import { maskedFields, maxWrittenBytes } from '../calls/mask.ts';
import { bodyTypes } from '../policy/operation.ts';
import {
  type AlertSource,
  type Change,
  type ChangeDryRun,
  type ChangeEvent,
  type ChangePlan,
  isOver,
  newestFirst,
  type ShownChange,
  type StepEvent,
  transition,
} from './change.ts';
import { type ChangeEntry, ChangeStore } from './change-store.ts';
import type { ChangesContext, ChangesParts } from './context.ts';
import { assertMayRun, decide, type DecisionRequest, entryFor, maySeeChange, setAlerts, shownTo } from './decide.ts';
import { planChange, type PlannedChange, titleOf } from './plan.ts';
import { planLines } from './plan-lines.ts';
import { sweep } from './recover.ts';
import type { Repair } from './repairs.ts';
import { startRun, type StartedChange } from './run.ts';
import { type ChangeRequest, type ChangeInput, newIdentity, readChangeRequest, type Task } from './task.ts';

export const maxOpenPerPrincipal = 20;

/** Owns all changes; each is carried out at most once. Every refusal is an {@link AdminProblem}. */
export class Changes {
  readonly #context: ChangesContext;

  constructor(parts: ChangesParts) {
    this.#context = {
      ...parts,
      store: new ChangeStore(parts),
      digestKey: randomBytes(32).toString('hex'),
      stopping: new AbortController(),
      underWay: new Set(),
      planning: new Set(),
    };
  }

  /** All changes, with the alerts of proposals that fire now. */
  get all(): readonly Readonly<Pick<ChangeEntry, 'change' | 'firingAlerts'>>[] {
    return this.#context.store.entries;
  }

  /** Submits the change that a body describes; it waits for approval. */
  submit(request: ChangeRequest, caller: Caller): Promise<ShownChange> {
    return this.#shown(caller, this.#planAndStore(readChangeRequest(request, this.#context), caller));
  }

  /** Submits a call that needs approval, instead of sending it. */
  submitCall(call: AdminCall): Promise<ShownChange> {
    const { principal, token, signal, address, appliance, reason, force, target, body } = call;
    const content = body?.inMemory && { content: { type: body.contentType, bytes: body.inMemory } };
    const task = { operationId: target.operation.operationId, params: target.params, ...content };
    const input = { ...newIdentity(this.#context), appliance, task, reason, force };
    return this.#shown(call, this.#planAndStore(input, { principal, token, signal, address }));
  }

  /** Submits the repair of alerts; `caller` has the planner of their Alertmanager. */
  propose({ appliance, task, alerts }: Repair, caller: Caller): Promise<Change> {
    const input = { ...newIdentity(this.#context), appliance, task, alerts, reason: undefined, force: false };
    return this.#planAndStore(input, caller);
  }

  /** Plans what the body of a change describes; stores nothing. */
  async plan(request: ChangeRequest, caller: Caller): Promise<ChangeDryRun> {
    const input = readChangeRequest(request, this.#context);
    const { appliance, task, askedAtMs, plan, digest } = await planChange(this.#context, input, caller);
    return {
      dry_run: true,
      appliance,
      title: titleOf(task),
      asked_at: new Date(askedAtMs).toISOString(),
      digest,
      would: wouldOf(plan),
      plan,
      lines: planLines(plan),
    };
  }

  /**
   * Plans what the body of a change describes, runs it at once, and reports its start and what its
   * steps do. It waits instead if a call of it needs approval.
   */
  async run(request: ChangeRequest, caller: Caller, onEvent: (event: ChangeEvent) => void) {
    const input = readChangeRequest(request, this.#context);
    const { change, over } = await this.#whileOpen(input, caller, () => this.#planAndRun(input, caller, onEvent));
    return { change: shownTo(this.#context, caller.principal, change), over: over && this.#shown(caller, over) };
  }

  /** Returns the changes that the principal may see, the newest first. */
  list(principal: Principal): readonly ShownChange[] {
    const { store } = this.#context;
    store.assertLoaded();
    return newestFirst(store.changes)
      .filter((change) => maySeeChange(this.#context, principal, change))
      .map((change) => shownTo(this.#context, principal, change));
  }

  get(id: string, principal: Principal): ShownChange {
    return shownTo(this.#context, principal, entryFor(this.#context, id, principal).change);
  }

  decide(decision: DecisionRequest): Promise<ShownChange> {
    return this.#shown(decision.caller, decide(this.#context, decision));
  }

  setAlerts(id: string, next: (alerts: readonly AlertSource[]) => readonly AlertSource[]): Promise<void> {
    return setAlerts(this.#context, id, next);
  }

  sweep(): Promise<void> {
    return sweep(this.#context);
  }

  /** Resolves when no change is under way. */
  async whenIdle(): Promise<void> {
    const { underWay } = this.#context;
    while (underWay.size > 0) await Promise.allSettled(underWay);
  }

  /** Aborts what is under way, and waits until it has stopped; the next start finds out what became of it. */
  async close(): Promise<void> {
    this.#context.stopping.abort();
    await Promise.allSettled(this.#context.underWay);
    this.#context.store.close();
  }

  async #shown({ principal }: Pick<Caller, 'principal'>, change: Promise<Change>): Promise<ShownChange> {
    return shownTo(this.#context, principal, await change);
  }

  /** Plans a change and stores it, to wait for approval. */
  async #planAndStore(input: ChangeInput, caller: Caller): Promise<Change> {
    return await this.#whileOpen(input, caller, async () => {
      assertNothingHidden(this.#context, input.task, caller);
      return this.#storeWaiting(await this.#planAllowed(input, caller), caller);
    });
  }

  /** Plans, and refuses what the gateway would refuse. */
  async #planAllowed(input: ChangeInput, caller: Caller): Promise<PlannedChange> {
    const planned = await planChange(this.#context, input, caller);
    assertMayRun(this.#context, planned, [caller.principal]);
    return planned;
  }

  async #planAndRun(input: ChangeInput, caller: Caller, onEvent: (event: ChangeEvent) => void): Promise<StartedChange> {
    const context = this.#context;
    let step = 0;
    const onStepEvent = (event: StepEvent): void => {
      ({ step } = event);
      onEvent(event);
    };
    const onWait = (line: string): void => onStepEvent({ event: 'wait', step, line });
    // A stop of the exporter ends it, as its caller does by leaving.
    const runner = { ...caller, signal: AbortSignal.any([caller.signal, context.stopping.signal]) };
    const planned = await this.#planAllowed({ ...input, onWait }, runner);
    assertSeenPlan(planned);
    if (wouldOf(planned.plan) === 'wait for approval') {
      assertNothingHidden(context, input.task, caller);
      return { change: await this.#storeWaiting(planned, caller), over: undefined };
    }
    assertConfirmedOrSeen(context, input);
    assertNotEmpty(planned.plan);
    // Without its body, which may have a password and is not planned again.
    const submitted = { change: recordOf(context, planned, caller), sealed: sealedOf(planned, caller) };
    const decision = { by: caller.principal.name, what: 'started', reason: submitted.change.reason } as const;
    const approved = transition(submitted, { state: 'approved', decision }, new Date(context.now()).toISOString());
    return await startRun(context, { planned, runner, onEvent: onStepEvent }, async () => {
      const entry = await context.store.add(approved, caller);
      onEvent({ event: 'started', change: shownTo(context, caller.principal, entry.change) });
      return entry;
    });
  }

  /** Stores a waiting change together with its whole body: the plan only has the masked one. */
  async #storeWaiting(planned: PlannedChange, caller: Caller): Promise<Change> {
    const { task } = planned;
    const content = 'content' in task ? task.content : undefined;
    const sealed = {
      ...sealedOf(planned, caller),
      ...(content && { content: { type: content.type, base64: content.bytes.toString('base64') } }),
    };
    return (await this.#context.store.add({ change: recordOf(this.#context, planned, caller), sealed }, caller)).change;
  }

  /** Counts a change as open while it is planned and stored; first refuses one that may not be. */
  async #whileOpen<Value>(input: ChangeInput, caller: Caller, work: () => Promise<Value>): Promise<Value> {
    assertMayPlan(this.#context, input, caller);
    const { planning } = this.#context;
    const counted = { principal: caller.principal };
    planning.add(counted);
    try {
      return await work();
    } finally {
      planning.delete(counted);
    }
  }
}

/** Returns the parts of a change that nobody is shown; on disk, `digestKey` is named `salt`. */
function sealedOf({ digestKey, askedAtMs }: PlannedChange, { principal }: Caller) {
  return { person: principal.person, salt: digestKey, asked_at: new Date(askedAtMs).toISOString() };
}

function recordOf(context: ChangesContext, planned: PlannedChange, { principal, token }: Caller): Change {
  const { id, appliance, task, reason, force, breakGlass, backupFirst, waitSeconds, alerts } = planned;
  const createdMs = context.now();
  const redacted = (text: string | null | undefined): string | null =>
    context.recorder.redact(text ?? undefined, token);
  return {
    id,
    state: alerts ? 'proposed' : 'pending',
    appliance,
    title: titleOf(task),
    ...('recipe' in task ? { recipe: task.recipe.name } : { operation: task.operationId }),
    parameters: task.params,
    force,
    ...(breakGlass && { break_glass: breakGlass }),
    ...(backupFirst && { backup_first: backupFirst }),
    ...(waitSeconds !== undefined && { wait_seconds: waitSeconds }),
    requested_by: principal.name,
    reason: redacted(reason),
    alerts: (alerts ?? []).map((each) => ({ ...each, summary: redacted(each.summary) })),
    created: new Date(createdMs).toISOString(),
    expires: new Date(createdMs + context.approvals().ttlMs).toISOString(),
    digest: planned.digest,
    plan: planned.plan,
    decision: null,
    outcome: null,
  };
}

function wouldOf({ steps }: ChangePlan): ChangeDryRun['would'] {
  const all = steps.map(({ would }) => would);
  return (['be refused', 'wait for approval'] as const).find((each) => all.includes(each)) ?? 'be sent';
}

function assertMayPlan(
  context: ChangesContext,
  { appliance, task, alerts }: ChangeInput,
  { principal, token }: Caller,
): void {
  context.gateway.applianceFor({ principal, appliance });
  if (context.freeze.state) throw frozenProblem(context.freeze.state);
  // They are stored and shown, also those of a change that runs at once.
  if (context.recorder.holdsSecret(task.params, token)) throw malformedBody('A parameter contains a token or a key');
  // The proposals of alerts are limited for each appliance, and not for their one Alertmanager.
  if (!alerts) assertBelowLimit(context, principal);
}

/** Refuses to let secrets wait, and what looks like one: an approver would not see it. */
function assertNothingHidden({ recorder }: ChangesContext, task: Task, { token }: Caller): void {
  if ('recipe' in task) {
    if (task.files && Object.keys(task.files).length > 0) throw cannotWait('It has a file, which may hold a key');
    return;
  }
  if (task.content?.type !== bodyTypes.json[0]) return;
  const body = parseJson(task.content.bytes) ?? {};
  // First: to look for secrets in a long one takes long.
  if (Buffer.byteLength(JSON.stringify(body)) > maxWrittenBytes)
    throw cannotWait(
      `The body is longer than ${maxWrittenBytes} bytes, and only its beginning is shown`,
      `Send it in several changes, or with ${withoutApproval}`,
    );
  const [masked] = maskedFields(body);
  if (masked === undefined && !recorder.holdsSecret(body, token)) return;
  throw cannotWait(
    `The body has a secret, or what looks like one${masked === undefined ? '' : `, in ${oneLine(masked, 64)}`}`,
  );
}

const withoutApproval = 'a token whose calls need no approval, or with X-Break-Glass (break_glass) and a reason.';

function cannotWait(
  because: string,
  remedy = `If it is not a secret, write it differently. Otherwise send it with ${withoutApproval}`,
): AdminProblem {
  return new AdminProblem('cannot_wait', {
    detail: `It needs approval, or is asked to wait for it. ${because}. An approver would not see it, so the change cannot wait; nothing was sent.`,
    remedy,
  });
}

function assertBelowLimit({ store, planning }: ChangesContext, { name }: Principal): void {
  const open =
    store.changes.filter((each) => each.requested_by === name && !isOver(each.state)).length +
    [...planning].filter(({ principal }) => principal.name === name).length;
  if (open < maxOpenPerPrincipal) return;
  throw new AdminProblem('too_many_changes', { detail: `${name} has ${open} changes open; nothing was sent.` });
}

function assertSeenPlan({ digest, seenDigest = digest }: PlannedChange): void {
  if (seenDigest === digest) return;
  throw new AdminProblem('plan_changed', {
    detail: 'The object or the findings have changed; nothing was sent.',
    remedy: 'Make the dry run again, look at its plan, and run that one.',
  });
}

/** Refuses to delete an object without a plan that somebody has seen; a recipe names what it deletes. */
function assertConfirmedOrSeen({ operations }: ChangesContext, { appliance, task, seenDigest }: ChangeInput): void {
  if (seenDigest !== undefined || 'recipe' in task) return;
  const call = operations.toCall(task.operationId, task.params);
  const [name] = call ? confirmationOf(call, appliance) : [];
  if (name === undefined) return;
  throw new AdminProblem('confirmation_required', {
    detail: `${task.operationId} of ${name} cannot be undone, and nobody has looked at its plan; nothing was sent.`,
    remedy: 'Make the dry run, and send its digest and asked_at with the change.',
  });
}

function assertNotEmpty({ steps, targets = [], facts }: ChangePlan): void {
  if (steps.length > 0 || targets.some(({ result }) => result === 'has it already')) return;
  throw new AdminProblem('recipe_refused', {
    detail: `${facts.join(' ')} Nothing was sent.`,
    remedy: 'Look at the plan with dry_run=true.',
  });
}
