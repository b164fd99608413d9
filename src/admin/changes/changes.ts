// Keeps a change from its proposal to its end: its plan, who approves or denies it, and its steps.
// Only the ChangeStore changes a stored change, one at a time, and each state is on disk before the
// next step. Changes of different objects may run at the same time. A restart ends what was under
// way, as failed or as uncertain (recover.ts). Read on in ask.ts (propose), decide.ts, run.ts, and
// proposals.ts (what alerts propose).

import type { Caller, Principal } from '../policy/principal.ts';
import type { AdminCall } from '../calls/admin-call.ts';
import type { Clearance } from '../calls/approval.ts';
import { randomBytes } from 'node:crypto';
import { ask, askInstead, runNow, showPlan } from './ask.ts';
import type { AlertSource, Change, ChangeDryRun, ShownChange, StepEvent } from './change.ts';
import { sendDirectly } from './direct-call.ts';
import { decide, type DecisionOn, setAlerts, changeFor, maySeeChange, shownTo } from './decide.ts';
import { ChangeStore } from './change-store.ts';
import type { ChangesContext, ChangesParts } from './context.ts';
import { sweep } from './recover.ts';
import { type ChangeRequest, type NewChange, readChangeRequest } from './task.ts';

/**
 * Keeps changes from their beginning to their end; each is carried out at most once. Every
 * refusal is an {@link AdminProblem}.
 */
export type Changes = ReturnType<typeof createChanges>;

export function createChanges(parts: ChangesParts) {
  const store = new ChangeStore(parts);
  const context: ChangesContext = {
    ...parts,
    store,
    key: randomBytes(32).toString('hex'),
    stopping: new AbortController(),
    underWay: new Set(),
    asking: new Set(),
  };
  const shown = async ({ principal }: Pick<Caller, 'principal'>, change: Promise<Change>): Promise<ShownChange> =>
    shownTo(context, principal, await change);
  return {
    /** All changes, for those who propose some, with the alerts that fire now. */
    get all() {
      return store.held.map(({ change, alerts }) => ({ change, alerts }));
    },
    ask: (wanted: NewChange, caller: Caller) => ask(context, wanted, caller),
    sendDirectly: (call: AdminCall, clearance: Exclude<Clearance, 'needs_approval'>) =>
      sendDirectly(context, call, clearance),
    askInstead: (waiting: AdminCall) => shown(waiting, askInstead(context, waiting)),
    /** Asks for what the body of a change describes. */
    askFor: (wanted: ChangeRequest, caller: Caller) =>
      shown(caller, ask(context, readChangeRequest(wanted, context), caller)),
    /** Plans what the body of a change describes; stores nothing. */
    showPlan: (wanted: ChangeRequest, caller: Caller): Promise<ChangeDryRun> =>
      showPlan(context, readChangeRequest(wanted, context), caller),
    /** Runs what the body of a change describes, and reports what its steps do. */
    async runNow(wanted: ChangeRequest, caller: Caller, onEvent: (event: StepEvent) => void) {
      const { change, over } = await runNow(context, readChangeRequest(wanted, context), caller, onEvent);
      return { change: shownTo(context, caller.principal, change), over: over && shown(caller, over) };
    },
    /** Returns those that the principal may see, the newest first. */
    list(principal: Principal): readonly ShownChange[] {
      store.refuseUnread();
      return store.changes
        .filter((change) => maySeeChange(context, principal, change))
        .toSorted((a, b) => (a.created < b.created ? 1 : -1))
        .map((change) => shownTo(context, principal, change));
    },
    get: (id: string, principal: Principal) => shownTo(context, principal, changeFor(context, id, principal).change),
    decide: (decision: DecisionOn) => shown(decision.caller, decide(context, decision)),
    setAlerts: (id: string, next: (alerts: readonly AlertSource[]) => readonly AlertSource[]) =>
      setAlerts(context, id, next),
    sweep: () => sweep(context),
    /** Resolves when no change is under way. */
    async ended() {
      while (context.underWay.size > 0) await Promise.allSettled(context.underWay);
    },
    /** Stops waiting for what is under way; the next start finds out what became of it. */
    async close() {
      context.stopping.abort();
      await Promise.allSettled(context.underWay);
    },
  };
}
