import type { Caller, Principal } from '../policy/principal.ts';
import type { PermittedCall } from '../calls/request.ts';
import { ask, type Asked, askInstead, readChange } from './ask.ts';
import { sweep } from './carry-out.ts';
import type { AlertSource, ChangeRequest, ShownRequest } from './change-request.ts';
import { type Approval, approve, type DecisionOn, denyOrCancel, setAlerts } from './decide.ts';
import type { AskedChange } from './plan.ts';
import { RequestBook } from './request-book.ts';
import type { ApprovalsCore, ChangeRequestsParts } from './core.ts';
import { entryFor, maySee, shownTo } from './rights.ts';

/**
 * Keeps change requests from their beginning to their end; each is carried out at most once. Every
 * refusal is an {@link AdminProblem}.
 */
export type ChangeRequests = ReturnType<typeof createChangeRequests>;

export function createChangeRequests(parts: ChangeRequestsParts) {
  const book = new RequestBook(parts);
  const core: ApprovalsCore = {
    ...parts,
    book,
    stopping: new AbortController(),
    underWay: new Set(),
    asking: new Set(),
  };
  const shown = async (
    { principal }: Pick<Caller, 'principal'>,
    request: Promise<ChangeRequest>,
  ): Promise<ShownRequest> => shownTo(core, principal, await request);
  return {
    /** All requests, for those who propose some, with the alerts that fire now. */
    get all() {
      return book.entries.map(({ stored: { request }, alerts }) => ({ request, alerts }));
    },
    ask: (asked: AskedChange, asker: Caller) => ask(core, asked, asker),
    askInstead: (waiting: PermittedCall) => askInstead(core, waiting),
    /** Asks for what the body of a request describes. */
    askFor: (asked: Asked, asker: Caller) =>
      shown(asker, ask(core, { ...asked, change: readChange(asked, core), force: asked.force ?? false }, asker)),
    /** Returns those that the principal may see, the newest first. */
    list(principal: Principal): readonly ShownRequest[] {
      book.refuseUnread();
      return book.requests
        .filter((request) => maySee(core, principal, request))
        .toSorted((a, b) => (a.created < b.created ? 1 : -1))
        .map((request) => shownTo(core, principal, request));
    },
    get: (id: string, principal: Principal) => shownTo(core, principal, entryFor(core, id, principal).stored.request),
    approve: (decision: Approval) => shown(decision.actor, approve(core, decision)),
    denyOrCancel: (word: 'deny' | 'cancel', decision: DecisionOn) =>
      shown(decision.actor, denyOrCancel(core, word, decision)),
    setAlerts: (id: string, change: (alerts: readonly AlertSource[]) => readonly AlertSource[]) =>
      setAlerts(core, id, change),
    sweep: () => sweep(core),
    /** Stops waiting for what is under way; the next start finds out what became of it. */
    async close() {
      core.stopping.abort();
      await Promise.allSettled(core.underWay);
    },
  };
}
