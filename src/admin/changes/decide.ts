import { frozenProblem } from '../policy/freeze.ts';
import { authorise, may } from '../policy/policy.ts';
import type { Caller, Principal } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import {
  type AlertSource,
  alreadyOver,
  type Change,
  type ChangePlan,
  type DecisionWord,
  decisionWords,
  isWaiting,
  type ShownChange,
  type StoredChange,
} from './change.ts';
import type { ChangeEntry } from './change-store.ts';
import type { ChangesContext } from './context.ts';
import { planAgain, type PlannedChange } from './plan.ts';
import { startRun } from './run.ts';

export interface DecisionRequest {
  readonly id: string;
  readonly word: DecisionWord;
  readonly reason: string | undefined;
  /** The digest of the plan that an approver has seen. */
  readonly digest: string | undefined;
  readonly caller: Caller;
}

const states = { approve: 'approved', deny: 'denied', cancel: 'cancelled' } as const;

/** Decides on a change, and resolves when the decision is on disk; an approved one starts then. */
export async function decide(
  context: ChangesContext,
  { id, word, reason, digest, caller }: DecisionRequest,
): Promise<Change> {
  const { principal, token } = caller;
  const entry = entryFor(context, id, principal);
  const state = states[word];
  const decision = { by: principal.name, what: state, reason: context.recorder.redact(reason, token) };
  const saveDecision = async (): Promise<ChangeEntry> => {
    await context.store.transition(entry, { state, decision }, caller);
    return entry;
  };
  return await context.store.lockForDecision(entry, async () => {
    const refusal = refusalOf(context, word, entry, principal);
    if (refusal) throw refusal;
    if (word !== 'approve') return (await saveDecision()).change;
    if (digest !== entry.change.digest)
      throw new AdminProblem('digest_mismatch', {
        detail: 'The digest is not that of the present plan; nothing was sent.',
      });
    // The approver may leave once it is approved; the exporter goes on.
    const runner = { ...caller, signal: context.stopping.signal };
    const planned = await planAgain(context, entry, runner);
    assertMayApprove(context, entry, planned, principal);
    await context.store.replacePlanIfChanged(entry, planned);
    // A reload may have removed the token while the plan was made.
    context.principals.assertInForce(principal);
    return (await startRun(context, { planned, runner, onEvent: () => undefined }, saveDecision)).change;
  });
}

/**
 * Replaces the firing alerts of a proposal, and ends one without any. During a decision, only memory
 * changes: an approval that still plans is then refused, and the next sweep does the rest.
 */
export async function setAlerts(
  { store }: ChangesContext,
  id: string,
  next: (alerts: readonly AlertSource[]) => readonly AlertSource[],
): Promise<void> {
  const entry = store.find(id);
  if (!entry || entry.change.state !== 'proposed') return;
  entry.firingAlerts = next(entry.firingAlerts);
  if (entry.isLocked) return;
  await store.withLock(entry, async () => {
    await store.endIfLapsed(entry);
    await store.saveAlerts(entry);
  });
}

/** Returns the entry of a change that the principal may see. Throws an {@link AdminProblem}. */
export function entryFor(context: ChangesContext, id: string, principal: Principal): ChangeEntry {
  context.store.assertLoaded();
  const entry = context.store.find(id);
  if (entry && maySeeChange(context, principal, entry.change)) return entry;
  throw new AdminProblem('unknown_change', { detail: 'There is no such change, or the token does not cover it.' });
}

/** Returns true for the token that submitted it, and for one that may do the same. */
export function maySeeChange(context: ChangesContext, principal: Principal, change: Change): boolean {
  if (!principal.covers(change.appliance)) return false;
  if (principal.name === change.requested_by) return true;
  return change.plan.steps.every(({ call }) => !call || mayCall(context, principal, call));
}

function mayCall(
  { operations }: ChangesContext,
  principal: Principal,
  { operation: key }: { readonly operation: string },
): boolean {
  const operation = operations.get(key);
  return operation !== undefined && may(principal, operation.operationId, operation.row).allowed;
}

/**
 * Returns a change as a principal is shown it: with what it may do, and without objects that it
 * may not read itself, since an approver may have planned it.
 */
export function shownTo(context: ChangesContext, principal: Principal, change: Change): ShownChange {
  const sealed = context.store.find(change.id)?.sealed ?? null;
  const refusals = decisionWords.map(
    (word) => [word, refusalOf(context, word, { change, sealed }, principal)] as const,
  );
  const steps = change.plan.steps.map((step) =>
    step.current && mayCall(context, principal, step.current) ? step : { ...step, current: null },
  );
  return {
    ...change,
    plan: { ...change.plan, steps },
    may: refusals.flatMap(([word, refusal]) => (refusal ? [] : word)),
    cannot_approve: new Map(refusals).get('approve')?.message ?? null,
  };
}

/** Returns why a principal may not decide so; an approval is refused for other reasons as well. */
export function refusalOf(
  { approvals, principals, freeze }: ChangesContext,
  word: DecisionWord,
  { change, sealed }: StoredChange,
  principal: Principal,
): AdminProblem | undefined {
  const { state, requested_by: name } = change;
  if (!isWaiting(state)) return alreadyOver(change);
  if (word === 'cancel') return principal.name === name || principal.role === 'admin' ? undefined : notYours(principal);
  if (!principal.approver) return notApprover(principal);
  // The person at its submission, and the one now: a reload may have corrected the option.
  const isOwn = [sealed?.person, principals.inForce(name)?.person].includes(principal.person);
  if (isOwn && !approvals().selfApproval) return ownChange(principal);
  return word === 'approve' && freeze.state ? frozenProblem(freeze.state) : undefined;
}

/**
 * Throws an {@link AdminProblem} if the approver, or who submitted the change, may not run the plan
 * that was made again: a reload may have changed that token.
 */
function assertMayApprove(
  context: ChangesContext,
  { change }: ChangeEntry,
  planned: PlannedChange,
  approver: Principal,
): void {
  const requester = context.principals.inForce(change.requested_by);
  // An Alertmanager may do nothing itself.
  const mayAct = requester !== undefined && requester.role !== 'alertmanager';
  assertMayRun(context, planned, mayAct ? [approver, requester] : [approver]);
}

/** Throws an {@link AdminProblem} unless each principal may run a plan that was just made. */
export function assertMayRun(
  { freeze, gateway, operations }: ChangesContext,
  { appliance, plan, steps }: PlannedChange,
  principals: readonly Principal[],
): void {
  // The appliance may have taken its time.
  if (freeze.state) throw frozenProblem(freeze.state);
  assertNothingRefused(plan);
  const calls = steps.flatMap(({ write }) => {
    return (write && operations.toCall(write.operationId, write.params)) ?? [];
  });
  for (const principal of principals.filter(({ plansOnly }) => !plansOnly)) {
    gateway.applianceFor({ principal, appliance });
    for (const call of calls) authorise(principal, call);
  }
}

/** Throws an {@link AdminProblem} if the gateway would refuse a call of the plan. */
function assertNothingRefused({ steps }: ChangePlan): void {
  const refused = steps.filter(({ because }) => because.length > 0);
  if (refused.length === 0) return;
  throw new AdminProblem('guarded', {
    detail: refused.map(({ title, because }) => `${title}: ${because.join(' ')}`).join(' '),
    remedy: refused.flatMap(({ findings }) => findings.map(({ remedy }) => remedy)).join(' '),
  });
}

function notYours({ name }: Principal): AdminProblem {
  return new AdminProblem('not_approver', {
    detail: `The token of ${name} may not cancel this change; nothing was sent.`,
    remedy: 'The token that asked for it may, and the role admin. An approver may deny it.',
  });
}

/** Returns the refusal of a token that may not decide on changes of others. */
export function notApprover({ name }: Principal): AdminProblem {
  return new AdminProblem('not_approver', {
    detail: `The token of ${name} may not approve or deny this change; nothing was sent.`,
  });
}

function ownChange({ person }: Principal): AdminProblem {
  return new AdminProblem('own_change', {
    detail: `${person} asked for it, and somebody else must approve it; nothing was sent.`,
  });
}
