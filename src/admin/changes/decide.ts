import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AlertSource, Change, DecisionWord } from './change.ts';
import type { HeldChange } from './change-book.ts';
import type { ChangesCore } from './core.ts';
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
export async function decide(core: ChangesCore, { id, word, reason, digest, caller }: DecisionOn): Promise<Change> {
  const { principal, token } = caller;
  const held = changeFor(core, id, principal);
  const what = states[word];
  const decision = { by: principal.name, what, reason: core.recorder.said(reason, token) };
  const store = async (): Promise<HeldChange> => {
    await core.book.move(held, what, { decision, caller });
    return held;
  };
  return await core.book.deciding(held, async () => {
    refuseDecision(core, word, held, principal);
    if (word !== 'approve') return (await store()).stored.change;
    if (digest !== held.stored.change.digest) throw otherDigest();
    // The approver may leave once it is approved; the exporter goes on.
    const runner = { ...caller, signal: core.stopping.signal };
    const { asked, prepared } = await planAgain(core, held.stored, runner);
    refuseApproval(core, held, { ...asked, ...prepared }, principal);
    await core.book.requirePlan(held, prepared);
    // A reload may have removed the token while the plan was made.
    core.principals.refuseUnlessInForce(principal);
    const cleared = { asked, prepared, runner, isApproved: true, tell: () => undefined };
    return (await launch(core, cleared, store)).change;
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
