import { randomBytes } from 'node:crypto';
import type { Caller, Principal } from '../policy/principal.ts';
import { frozenProblem } from '../policy/freeze.ts';
import { AdminProblem } from '../policy/problem.ts';
import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { AdminCall } from '../calls/admin-call.ts';
import { confirmationOf } from '../calls/approval.ts';
import { maskedFields, maxWrittenBytes } from '../calls/mask.ts';
import { bodyTypes } from '../policy/operation.ts';
import {
  type Change,
  type ChangePlan,
  isOver,
  type ChangeDryRun,
  type StepEvent,
  transition,
  planLines,
} from './change.ts';
import { planChange, type PlannedChange, titleOf } from './plan.ts';
import type { ChangesContext } from './context.ts';
import { refusePlan } from './decide.ts';
import { launch, type StartedChange } from './run.ts';
import { type IdentifiedChange, malformedBody, type NewChange, type Task } from './task.ts';

export const maxOpenPerPrincipal = 20;

/** Plans a change and stores it, to wait for approval. */
export async function ask(context: ChangesContext, wanted: NewChange, caller: Caller): Promise<Change> {
  refuseBeforePlanning(context, wanted, caller);
  refuseHiddenContent(context, wanted.task, caller);
  return await whileOpen(context, caller, async () =>
    addWaiting(context, await planned(context, wanted, caller), caller),
  );
}

/** Plans a change, and shows the plan; nothing is stored. */
export async function showPlan(context: ChangesContext, wanted: NewChange, caller: Caller): Promise<ChangeDryRun> {
  const { appliance, task, askedAtMs, plan, digest } = await planChange(context, identified(context, wanted), caller);
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
 * Plans a change, runs it at once, and reports what its steps do. It waits instead if a call of it
 * needs approval.
 */
export async function runNow(
  context: ChangesContext,
  wanted: NewChange,
  caller: Caller,
  onEvent: (event: StepEvent) => void,
): Promise<StartedChange> {
  refuseBeforePlanning(context, wanted, caller);
  return await whileOpen(context, caller, async () => {
    let step = 0;
    const onStepEvent = (event: StepEvent): void => {
      ({ step } = event);
      onEvent(event);
    };
    const onWait = (line: string): void => onStepEvent({ event: 'wait', step, line });
    // A stop of the exporter ends it, as its caller does by leaving.
    const runner = { ...caller, signal: AbortSignal.any([caller.signal, context.stopping.signal]) };
    const change = await planned(context, { ...wanted, onWait }, runner);
    refuseUnseenPlan(change);
    if (wouldOf(change.plan) === 'wait for approval') {
      refuseHiddenContent(context, wanted.task, caller);
      return { change: await addWaiting(context, change, caller), over: undefined };
    }
    refuseUnconfirmed(context, wanted);
    refuseEmptyPlan(change.plan);
    // Without its body, which may have a password and is not planned again.
    const asks = { change: recordOf(context, change, caller), sealed: sealedOf(change, caller) };
    const decision = { by: caller.principal.name, what: 'started', reason: asks.change.reason } as const;
    const started = transition(asks, { state: 'approved', decision }, new Date(context.now()).toISOString());
    return await launch(context, { planned: change, runner, onEvent: onStepEvent }, async () =>
      context.store.add(started, caller),
    );
  });
}

/** Asks for a call that needs approval, in the place of sending it. */
export async function askInstead(context: ChangesContext, waiting: AdminCall): Promise<Change> {
  const { principal, token, signal, address, appliance, reason, force, target, body } = waiting;
  const content = body?.inMemory && { content: { type: body.contentType, bytes: body.inMemory } };
  const task = { operation: target.operation.key, parameters: target.params, ...content };
  return await ask(context, { appliance, task, reason, force }, { principal, token, signal, address });
}

/** Plans, and refuses what the gateway would refuse. */
async function planned(context: ChangesContext, wanted: NewChange, caller: Caller): Promise<PlannedChange> {
  const change = await planChange(context, identified(context, wanted), caller);
  refusePlan(context, change, [caller.principal]);
  return change;
}

/** Stores a change that waits, with its body, of which its plan has no more than is shown. */
async function addWaiting(context: ChangesContext, change: PlannedChange, caller: Caller): Promise<Change> {
  const { task } = change;
  const content = 'content' in task ? task.content : undefined;
  const sealed = {
    ...sealedOf(change, caller),
    ...(content && { content: { type: content.type, base64: content.bytes.toString('base64') } }),
  };
  return (await context.store.add({ change: recordOf(context, change, caller), sealed }, caller)).change;
}

function sealedOf({ digestKey }: PlannedChange, { principal }: Caller) {
  return { person: principal.person, salt: digestKey };
}

function recordOf(context: ChangesContext, change: PlannedChange, { principal, token }: Caller): Change {
  const { id, appliance, task, reason, force, breakGlass, backupFirst, waitSeconds, alerts, askedAtMs } = change;
  const redacted = (text: string | null | undefined): string | null =>
    context.recorder.redact(text ?? undefined, token);
  return {
    id,
    state: alerts ? 'proposed' : 'pending',
    appliance,
    title: titleOf(task),
    ...('recipe' in task ? { recipe: task.recipe.name } : { operation: task.operation }),
    parameters: task.parameters,
    force,
    ...(breakGlass && { break_glass: breakGlass }),
    ...(backupFirst && { backup_first: backupFirst }),
    ...(waitSeconds !== undefined && { wait_seconds: waitSeconds }),
    requested_by: principal.name,
    reason: redacted(reason),
    alerts: (alerts ?? []).map((each) => ({ ...each, summary: redacted(each.summary) })),
    created: new Date(askedAtMs).toISOString(),
    expires: new Date(context.now() + context.settings().ttlMs).toISOString(),
    digest: change.digest,
    plan: change.plan,
    decision: null,
    outcome: null,
  };
}

function identified(context: ChangesContext, wanted: NewChange): IdentifiedChange {
  return { ...wanted, id: newId(), digestKey: context.key, askedAtMs: wanted.askedAtMs ?? context.now() };
}

/** Returns what would become of a change with this plan. */
function wouldOf({ steps }: ChangePlan): ChangeDryRun['would'] {
  const all = steps.map(({ would }) => would);
  return (['be refused', 'wait for approval'] as const).find((each) => all.includes(each)) ?? 'be sent';
}

function refuseBeforePlanning(
  context: ChangesContext,
  { appliance, task, alerts }: NewChange,
  { principal, token }: Caller,
): void {
  context.gateway.applianceFor({ principal, appliance });
  if (context.freeze.state) throw frozenProblem(context.freeze.state);
  // They are kept and shown, also those of a change that runs at once.
  if (context.recorder.holdsSecret(task.parameters, token))
    throw malformedBody('A parameter contains a token or a key');
  // The proposals of alerts are limited for each appliance, and not for their one Alertmanager.
  if (!alerts) refuseTooMany(context, principal);
}

async function whileOpen<Result>(
  { asking }: ChangesContext,
  caller: Caller,
  work: () => Promise<Result>,
): Promise<Result> {
  const one = { ...caller };
  asking.add(one);
  try {
    return await work();
  } finally {
    asking.delete(one);
  }
}

/** Refuses to let secrets wait, and what looks like one: an approver would not see it. */
function refuseHiddenContent({ recorder }: ChangesContext, task: Task, { token }: Caller): void {
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

function refuseTooMany({ store, asking }: ChangesContext, { name }: Principal): void {
  const open =
    store.changes.filter((each) => each.requested_by === name && !isOver(each.state)).length +
    [...asking].filter(({ principal }) => principal.name === name).length;
  if (open < maxOpenPerPrincipal) return;
  throw new AdminProblem('too_many_changes', { detail: `${name} has ${open} changes open; nothing was sent.` });
}

function refuseUnseenPlan({ digest, seenDigest = digest }: PlannedChange): void {
  if (seenDigest === digest) return;
  throw new AdminProblem('plan_changed', {
    detail: 'The object or the findings are not what they were; nothing was sent.',
    remedy: 'Make the dry run again, look at its plan, and run that one.',
  });
}

/** Refuses to delete what nobody has looked at; a recipe names what it deletes. */
function refuseUnconfirmed({ operations }: ChangesContext, { appliance, task, seenDigest }: NewChange): void {
  if (seenDigest !== undefined || 'recipe' in task) return;
  const operation = operations.named(task.operation);
  const call = operation && operations.call(operation, task.parameters);
  const [name] = call ? confirmationOf(call, appliance) : [];
  if (name === undefined) return;
  throw new AdminProblem('confirmation_required', {
    detail: `${task.operation} of ${name} cannot be undone, and nobody has looked at its plan; nothing was sent.`,
    remedy: 'Make the dry run, and send its digest and asked_at with the change.',
  });
}

function refuseEmptyPlan({ steps, targets = [], facts }: ChangePlan): void {
  if (steps.length > 0 || targets.some(({ result }) => result === 'has it already')) return;
  throw new AdminProblem('recipe_refused', {
    detail: `${facts.join(' ')} Nothing was sent.`,
    remedy: 'Look at the plan with dry_run=true.',
  });
}

/** Returns an id that is easy to read out. */
function newId(): string {
  return `ch-${[...randomBytes(10)].map((byte) => letters[byte % letters.length]).join('')}`;
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';
