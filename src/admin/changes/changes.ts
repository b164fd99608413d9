// Keeps a change from its proposal to its end: its plan, who approves or denies it, and its steps.
// The ChangeBook alone changes a stored change, one at a time, and each state is on disk before the
// next step. Changes of different objects may run at the same time. A restart ends what was under
// way, as failed or as uncertain (settle.ts). Read on in ask.ts (propose), decide.ts, run.ts, and
// proposals.ts (what alerts propose).

import type { Caller, Principal } from '../policy/principal.ts';
import type { PermittedCall } from '../calls/request.ts';
import { randomBytes } from 'node:crypto';
import { ask, askInstead, runNow, showPlan } from './ask.ts';
import type { AlertSource, Change, PlanOfChange, ShownChange, StepEvent } from './change.ts';
import { decide, type DecisionOn, setAlerts } from './decide.ts';
import { ChangeBook } from './change-book.ts';
import type { ChangesCore, ChangesParts } from './core.ts';
import { changeFor, maySee, shownTo } from './rights.ts';
import { sweep } from './settle.ts';
import { type Asked, type NewChange, readAsked } from './task.ts';

/**
 * Keeps changes from their beginning to their end; each is carried out at most once. Every
 * refusal is an {@link AdminProblem}.
 */
export type Changes = ReturnType<typeof createChanges>;

export function createChanges(parts: ChangesParts) {
  const book = new ChangeBook(parts);
  const core: ChangesCore = {
    ...parts,
    book,
    key: randomBytes(32).toString('hex'),
    stopping: new AbortController(),
    underWay: new Set(),
    asking: new Set(),
  };
  const shown = async ({ principal }: Pick<Caller, 'principal'>, change: Promise<Change>): Promise<ShownChange> =>
    shownTo(core, principal, await change);
  return {
    /** All changes, for those who propose some, with the alerts that fire now. */
    get all() {
      return book.held.map(({ stored: { change }, alerts }) => ({ change, alerts }));
    },
    ask: (asked: NewChange, caller: Caller) => ask(core, asked, caller),
    askInstead: (waiting: PermittedCall) => shown(waiting.request, askInstead(core, waiting)),
    /** Asks for what the body of a change describes. */
    askFor: (asked: Asked, caller: Caller) => shown(caller, ask(core, readAsked(asked, core), caller)),
    /** Plans what the body of a change describes; stores nothing. */
    showPlan: (asked: Asked, caller: Caller): Promise<PlanOfChange> => showPlan(core, readAsked(asked, core), caller),
    /** Runs what the body of a change describes, and tells what its steps do. */
    async runNow(asked: Asked, caller: Caller, tell: (event: StepEvent) => void) {
      const { change, over } = await runNow(core, readAsked(asked, core), caller, tell);
      return { change: shownTo(core, caller.principal, change), over: over && shown(caller, over) };
    },
    /** Returns those that the principal may see, the newest first. */
    list(principal: Principal): readonly ShownChange[] {
      book.refuseUnread();
      return book.changes
        .filter((change) => maySee(core, principal, change))
        .toSorted((a, b) => (a.created < b.created ? 1 : -1))
        .map((change) => shownTo(core, principal, change));
    },
    get: (id: string, principal: Principal) => shownTo(core, principal, changeFor(core, id, principal).stored.change),
    decide: (decision: DecisionOn) => shown(decision.caller, decide(core, decision)),
    setAlerts: (id: string, next: (alerts: readonly AlertSource[]) => readonly AlertSource[]) =>
      setAlerts(core, id, next),
    sweep: () => sweep(core),
    /** Resolves when no change is under way. */
    async ended() {
      while (core.underWay.size > 0) await Promise.allSettled(core.underWay);
    },
    /** Stops waiting for what is under way; the next start finds out what became of it. */
    async close() {
      core.stopping.abort();
      await Promise.allSettled(core.underWay);
    },
  };
}
