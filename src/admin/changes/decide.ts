import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AlertSource, Change, DecisionWord } from './change.ts';
import type { HeldChange } from './change-store.ts';
import type { ChangesContext } from './context.ts';
import { planAgain } from './plan.ts';
import { changeFor, refuseApproval, refuseDecision } from './rights.ts';
import { launch } from './run.ts';

/** A decision on the change of an id. */
export interface DecisionOn {
  readonly id: string;
  readonly word: DecisionWord;
  readonly reason: string | undefined;
  /** The digest of the plan that an approver looked at. */
  readonly digest: string | undefined;
  readonly caller: Caller;
}

const states = { approve: 'approved', deny: 'denied', cancel: 'cancelled' } as const;

/** Decides on a change, and resolves when the decision is on disk; an approved one starts then. */
export async function decide(
  context: ChangesContext,
  { id, word, reason, digest, caller }: DecisionOn,
): Promise<Change> {
  const { principal, token } = caller;
  const held = changeFor(context, id, principal);
  const state = states[word];
  const decision = { by: principal.name, what: state, reason: context.recorder.said(reason, token) };
  const save = async (): Promise<HeldChange> => {
    await context.store.move(held, { state, decision }, caller);
    return held;
  };
  return await context.store.deciding(held, async () => {
    refuseDecision(context, word, held, principal);
    if (word !== 'approve') return (await save()).change;
    if (digest !== held.change.digest) throw otherDigest();
    // The approver may leave once it is approved; the exporter goes on.
    const runner = { ...caller, signal: context.stopping.signal };
    const planned = await planAgain(context, held, runner);
    refuseApproval(context, held, planned, principal);
    await context.store.requirePlan(held, planned);
    // A reload may have removed the token while the plan was made.
    context.principals.refuseUnlessInForce(principal);
    return (await launch(context, { planned, runner, tell: () => undefined }, save)).change;
  });
}

/**
 * Replaces the alerts of a proposal, and ends it without any. During a decision it only notes them:
 * an approval that still plans is then refused, and the next sweep stores or ends the rest.
 */
export async function setAlerts(
  { store }: ChangesContext,
  id: string,
  next: (alerts: readonly AlertSource[]) => readonly AlertSource[],
): Promise<void> {
  const held = store.find(id);
  if (!held || held.change.state !== 'proposed') return;
  held.alerts = next(held.alerts);
  if (held.isDeciding) return;
  await store.withLock(held, async () => {
    await store.endIfOverdue(held);
    await store.keepAlerts(held);
  });
}

function otherDigest(): AdminProblem {
  return new AdminProblem('digest_mismatch', {
    detail: 'The digest is not that of the present plan; nothing was sent.',
  });
}
