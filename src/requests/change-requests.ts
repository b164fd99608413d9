import type { Principal } from '../gateway/principal.ts';
import type { AdminAnswer, PermittedCall } from '../gateway/request.ts';
import { ask, askInstead } from './ask.ts';
import { sweep } from './carry-out.ts';
import type { ChangeRequest } from './change-request.ts';
import type { AskedChange, ChangeRequestsParts, Core } from './core.ts';
import { approve, cancel, type DecisionOn, deny, withdraw } from './decide.ts';
import { type Asked, readChange } from './read-change.ts';
import { type Actor, openRequestBook } from './request-book.ts';
import { entryFor, maySee, shownTo } from './visibility.ts';

/**
 * Keeps change requests from their beginning to their end; each is carried out at most once. Every
 * refusal is an {@link AdminProblem}.
 */
export interface ChangeRequests {
  /** Asks for what the body of a request describes. */
  askFor(asked: Asked, asker: Actor): Promise<ChangeRequest>;
  /** Asks for a call that needs approval, in the place of sending it. */
  askInstead(waiting: PermittedCall): Promise<AdminAnswer>;
  /** Plans a change and stores it, to wait for approval. */
  ask(asked: AskedChange, asker: Actor): Promise<ChangeRequest>;
  /** Returns those that the principal may see, the newest first. */
  list(principal: Principal): readonly ChangeRequest[];
  get(id: string, principal: Principal): ChangeRequest;
  /**
   * Plans the change again and compares; then starts it, and resolves when the approval is on disk.
   */
  approve(decision: DecisionOn & { readonly digest: string }): Promise<ChangeRequest>;
  deny(decision: DecisionOn): Promise<ChangeRequest>;
  cancel(decision: DecisionOn): Promise<ChangeRequest>;
  /** Ends a proposal whose alert has ended, if nobody decides on it. */
  withdraw(id: string): Promise<void>;
  /** All requests, for those who propose some. */
  readonly all: readonly ChangeRequest[];
  /**
   * Ends what has waited too long, finds out what became of requests that a crash interrupted, and
   * updates the metrics.
   */
  sweep(): Promise<void>;
  /** Stops waiting for what is under way; the next start finds out what became of it. */
  close(): Promise<void>;
}

/** Opens the folder of requests. */
export async function openChangeRequests(parts: ChangeRequestsParts): Promise<ChangeRequests> {
  const book = await openRequestBook(parts);
  const core: Core = { ...parts, book, stopping: new AbortController(), underWay: new Set(), asking: new Set() };
  return {
    get all() {
      return book.entries.map(({ stored }) => stored.request);
    },
    ask: (asked, asker) => ask(core, asked, asker),
    askInstead: (waiting) => askInstead(core, waiting),
    askFor: (asked, asker) =>
      ask(core, { ...asked, change: readChange(asked, core), force: asked.force ?? false }, asker),
    list: (principal) =>
      book.entries
        .map(({ stored }) => stored.request)
        .filter((request) => maySee(core, principal, request))
        .toSorted((a, b) => (a.created < b.created ? 1 : -1)),
    get: (id, principal) => shownTo(core, principal, entryFor(core, id, principal).stored.request),
    approve: (decision) => approve(core, decision),
    deny: (decision) => deny(core, decision),
    cancel: (decision) => cancel(core, decision),
    withdraw: (id) => withdraw(core, id),
    sweep: () => sweep(core),
    async close() {
      core.stopping.abort();
      await Promise.allSettled(core.underWay);
    },
  };
}
