import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { AdminProblem } from '../admin/problem.ts';

/** Bounds the bodies that one principal has under way: each holds a connection, and all share those of the listener. */
export interface UnfinishedBodies {
  /** Takes a request with a body in. Rejects with an {@link AdminProblem} when its principal has too many under way. */
  admit(principal: string, request: IncomingMessage): Promise<void>;
}

const maxPerPrincipal = 32;

export function createUnfinishedBodies(): UnfinishedBodies {
  // By principal: there are no more of them than the configuration has.
  const underWay = new Map<string, readonly IncomingMessage[]>();
  return {
    async admit(principal, request) {
      const others = (underWay.get(principal) ?? []).filter(({ complete, socket }) => !complete && !socket.destroyed);
      underWay.set(principal, others);
      if (others.length < maxPerPrincipal) {
        underWay.set(principal, [...others, request]);
        return;
      }
      // Node has parsed the headers so far; a short body that came along with them follows within this turn.
      await setImmediate();
      if (!request.complete) throw tooMany(principal);
    },
  };
}

function tooMany(principal: string): AdminProblem {
  return new AdminProblem('too_many_bodies', {
    detail: `${principal} has ${maxPerPrincipal} requests under way whose bodies have not arrived in whole; nothing was sent.`,
    remedy: 'Send fewer at a time, and check for clients that stop in the middle of a body.',
    headers: { 'retry-after': '2' },
  });
}
