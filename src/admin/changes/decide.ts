import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AlertSource, Change } from './change.ts';
import type { ChangesCore } from './core.ts';
import { planAgain } from './plan.ts';
import { changeFor, refuseAsker, refuseDecision, refusePlan } from './rights.ts';
import { launch } from './run.ts';

/** A decision on the change of an id. */
export interface DecisionOn {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Caller;
}

export interface ApprovalOn extends DecisionOn {
  /** The digest of the plan that the approver looked at. */
  readonly digest: string;
}

/**
 * Plans the change again and compares; then starts it, and resolves when the approval is on disk.
 */
export async function approve(core: ChangesCore, { id, digest, reason, actor }: ApprovalOn): Promise<Change> {
  const { principal, token } = actor;
  const held = changeFor(core, id, principal);
  const decision = { by: principal.name, what: 'approved', reason: core.recorder.said(reason, token) } as const;
  return await core.book.deciding(held, async () => {
    refuseDecision(core, 'approve', held, principal);
    if (digest !== held.stored.change.digest) throw otherDigest();
    // The approver may leave once it is approved; the exporter goes on.
    const runner = { ...actor, signal: core.stopping.signal };
    const { asked, prepared } = await planAgain(core, held.stored, runner);
    refusePlan(core, prepared, principal);
    refuseAsker(core, held.stored.change, prepared.steps);
    await core.book.requirePlan(held, prepared);
    const cleared = { asked, prepared, runner, isApproved: true, tell: () => undefined };
    const { change } = await launch(core, cleared, async () => {
      await core.book.move(held, 'approved', { decision, actor });
      return held;
    });
    return change;
  });
}

/** Denies a change, or takes it back. */
export async function denyOrCancel(
  core: ChangesCore,
  word: 'deny' | 'cancel',
  { id, reason, actor }: DecisionOn,
): Promise<Change> {
  const { principal, token } = actor;
  const held = changeFor(core, id, principal);
  const state = word === 'deny' ? 'denied' : 'cancelled';
  const decision = { by: principal.name, what: state, reason: core.recorder.said(reason, token) } as const;
  return await core.book.deciding(held, async () => {
    refuseDecision(core, word, held, principal);
    return await core.book.move(held, state, { decision, actor });
  });
}

/**
 * Replaces the alerts of a proposal, and ends it without any. During a decision it only notes them:
 * an approval that still plans is then refused, and the next sweep stores or ends the rest.
 */
export async function setAlerts(
  { book }: ChangesCore,
  id: string,
  next: (alerts: readonly AlertSource[]) => readonly AlertSource[],
): Promise<void> {
  const held = book.find(id);
  if (!held || held.stored.change.state !== 'proposed') return;
  held.alerts = next(held.alerts);
  if (held.isDeciding) return;
  await book.alone(held, async () => {
    await book.endIfOverdue(held);
    await book.keepAlerts(held);
  });
}

function otherDigest(): AdminProblem {
  return new AdminProblem('digest_mismatch', {
    detail: 'The digest is not that of the present plan; nothing was sent.',
  });
}
