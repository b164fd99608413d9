import { frozenProblem } from '../policy/freeze.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { Step } from '../recipes/recipe.ts';
import type { AlertSource, Change, Decision, DecisionWord } from './change.ts';
import { type Planning, prepareAs, refuseRefused, type Task } from './plan.ts';
import { alreadyOver, type Entry, type StoredChange } from './change-book.ts';
import type { ChangesCore } from './core.ts';
import { authoriseAll, entryFor, refusalOf, said } from './rights.ts';
import { claim, start } from './run.ts';

/** A decision on the change of an id. */
export interface DecisionOn {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Caller;
}

export interface Approval extends DecisionOn {
  /** The digest of the plan that the approver looked at. */
  readonly digest: string;
}

/**
 * Plans the change again and compares; then starts it, and resolves when the approval is on disk.
 */
export async function approve(core: ChangesCore, { id, digest, reason, actor }: Approval): Promise<Change> {
  const { book } = core;
  const { principal } = actor;
  const entry = entryFor(core, id, principal);
  return await book.deciding(entry, async () => {
    refuseDecision(core, 'approve', entry, actor);
    if (digest !== entry.stored.change.digest) throw otherDigest();
    // The approver may leave once it is approved; the exporter goes on.
    const runner = { ...actor, signal: core.stopping.signal };
    const asked = planningOf(core, entry.stored);
    const prepared = await prepareAs(runner, core, asked);
    // The appliance may have taken its time.
    await book.requireWaiting(entry);
    if (core.freeze.state) throw frozenProblem(core.freeze.state);
    refuseRefused(prepared.plan);
    authoriseAll(core, principal, prepared.steps);
    authoriseAsker(core, entry, prepared.steps);
    if (prepared.digest !== digest) {
      const { plan } = prepared;
      await book.replan(entry, { plan, digest: prepared.digest });
      throw planChanged();
    }
    claim(core, id, prepared.plan);
    const decision = decisionOf(core, 'approved', { reason, actor });
    entry.isExecuting = true;
    try {
      const approved = await book.move(entry, 'approved', { decision, actor });
      void start(core, entry, { asked, prepared, runner, isApproved: true, tell: () => undefined });
      return approved;
    } catch (error) {
      entry.isExecuting = false;
      core.claims.delete(id);
      throw error;
    }
  });
}

/** Refuses what the asker may not do any more: a reload may have changed the token. */
function authoriseAsker(core: ChangesCore, { stored: { change } }: Entry, steps: readonly Step[]): void {
  const asker = core.principals.inForce(change.requested_by);
  // An Alertmanager may do nothing itself.
  if (!asker || asker.role === 'alertmanager') return;
  core.gateway.applianceFor({ principal: asker, appliance: change.appliance });
  authoriseAll(core, asker, steps);
}

/** Returns what is planned again for a stored change. */
function planningOf(core: ChangesCore, { change, sealed }: StoredChange): Planning {
  const { id, appliance, force, reason, created } = change;
  return {
    id,
    appliance,
    task: taskOf(core, { change, sealed }),
    force,
    reason: reason ?? undefined,
    backupFirst: change.backup_first,
    waitSeconds: change.wait_seconds,
    askedAtMs: Date.parse(created),
    salt: sealed?.salt ?? '',
  };
}

/** Returns the task of a stored change. */
function taskOf({ recipes }: ChangesCore, { change, sealed }: StoredChange): Task {
  const { operation, recipe: name, parameters } = change;
  const recipe = recipes().find((each) => each.name === name);
  if (recipe) return { recipe, parameters };
  if (operation === undefined) throw alreadyOver(change, `there is no recipe ${name}`);
  const content = sealed?.content;
  if (!content) return { operation, parameters };
  return { operation, parameters, content: { type: content.type, bytes: Buffer.from(content.base64, 'base64') } };
}

/** Denies a change, or takes it back. */
export async function denyOrCancel(
  core: ChangesCore,
  word: 'deny' | 'cancel',
  { id, reason, actor }: DecisionOn,
): Promise<Change> {
  const entry = entryFor(core, id, actor.principal);
  return await core.book.deciding(entry, async () => {
    refuseDecision(core, word, entry, actor);
    const state = word === 'deny' ? 'denied' : 'cancelled';
    return await core.book.move(entry, state, { decision: decisionOf(core, state, { reason, actor }), actor });
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
  const entry = book.find(id);
  if (!entry || entry.stored.change.state !== 'proposed') return;
  entry.alerts = next(entry.alerts);
  if (entry.isDeciding) return;
  await book.alone(entry, async () => {
    await book.endIfOverdue(entry);
    await book.keepAlerts(entry);
  });
}

function refuseDecision(core: ChangesCore, word: DecisionWord, { stored }: Entry, { principal }: Caller): void {
  const refusal = refusalOf(core, word, stored, principal);
  if (refusal) throw refusal;
}

function decisionOf(
  core: ChangesCore,
  what: Decision['what'],
  { reason, actor: { principal, token } }: Pick<DecisionOn, 'reason' | 'actor'>,
): Omit<Decision, 'at'> {
  return { by: principal.name, what, reason: said(core, reason, token) };
}

function otherDigest(): AdminProblem {
  return new AdminProblem('digest_mismatch', {
    detail: 'The digest is not that of the present plan; nothing was sent.',
  });
}

function planChanged(): AdminProblem {
  return new AdminProblem('plan_changed', {
    detail: 'The object or the findings are not what they were; nothing was sent. The change has the new plan.',
  });
}
