import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { AdminProblem } from '../gateway/problem.ts';

/** Limits the unfinished bodies of one principal: each holds one of the listener's connections. */
export interface UnfinishedBodies {
  /**
   * Admits a request with a body. Rejects with an {@link AdminProblem} if its principal has too
   * many under way.
   */
  admit(principal: string, request: IncomingMessage): Promise<void>;
}

const maxPerPrincipal = 32;

export function createUnfinishedBodies(): UnfinishedBodies {
  // By principal, so the configuration bounds its size.
  const underWay = new Map<string, readonly IncomingMessage[]>();
  return {
    async admit(principal, request) {
      const others = (underWay.get(principal) ?? []).filter(({ complete, socket }) => !complete && !socket.destroyed);
      underWay.set(principal, others);
      if (others.length < maxPerPrincipal) {
        underWay.set(principal, [...others, request]);
        return;
      }
      // Node has parsed only the headers; a short body that came with them follows within this
      // tick.
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
