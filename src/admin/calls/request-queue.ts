import { Slots, type SlotsParts } from '../../lib/slots.ts';
import { plural } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { largestShare } from '../../lib/shares.ts';
import { AdminProblem, callerLeft } from '../policy/problem.ts';

export interface QueueRequest {
  readonly appliance: string;
  readonly kind: 'read' | 'write';
  readonly principal: string;
  /** Describes it in the refusals of others that wait for it. */
  readonly label: WorkLabel;
  /** True to overtake waiting requests that are not urgent; never running ones. */
  readonly urgent?: boolean;
  /**
   * Cancels the request while it waits; an {@link AdminProblem} as its reason is sent to the
   * caller.
   */
  readonly signal: AbortSignal;
}

/** Such as a `read` `of farm shop`. */
export interface WorkLabel {
  readonly noun: string;
  readonly object: string;
}

/** A slot on an appliance, held from the first call of a request to the end of the last one. */
export interface QueueSlot {
  /**
   * Aborts when the gateway closes, not when the caller leaves: an appliance continues a call whose
   * caller left.
   */
  readonly signal: AbortSignal;
  /** Holds the slot until the promise has settled, even if the work ends before. */
  extendUntil(exchange: Promise<unknown>): void;
}

/**
 * Limits the requests of the gateway that an appliance works on at a time. Writes go one by one, so
 * that what a guard saw still holds when the write is sent. Reads have slots of their own, so that
 * neither holds up the other.
 */
export type RequestQueue = ReturnType<typeof createRequestQueue>;

export interface RequestQueueParts {
  /** Returns the maximum of concurrent reads per appliance; a reload may change it. */
  readonly maxReads: () => number;
  /**
   * Maximum of waiting requests of one kind per appliance. A principal may fill half of it, and gives
   * a place up to a principal that has fewer.
   */
  readonly maxWaiting: number;
  readonly maxQueueWaitMs: number;
}

/** The holder of a slot, and since when by the steady clock. */
interface Holder extends WorkLabel {
  readonly sinceSteadyMs: number;
}

/** The requests of one kind for one appliance. */
interface QueueLine {
  readonly slots: Slots<QueueRequest>;
  readonly running: Set<Holder>;
}

export function createRequestQueue({ maxReads, maxWaiting, maxQueueWaitMs }: RequestQueueParts) {
  const lines = new Map<string, QueueLine>();
  /** The requests that wait or run. */
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  function lineOf({ appliance, kind }: QueueRequest): QueueLine {
    const key = `${kind} ${appliance}`;
    const count = kind === 'read' ? maxReads : () => 1;
    const line = lines.get(key) ?? { slots: new Slots({ count, next: byLastSlot() }), running: new Set<Holder>() };
    lines.set(key, line);
    return line;
  }

  /** Resolves when the request has a slot, to what holds it. */
  async function acquire(line: QueueLine, request: QueueRequest): Promise<Holder> {
    const { slots, running } = line;
    const { appliance, signal, label } = request;
    const timer = setTimeout(() => {
      const because = `${appliance} was busy with other requests of the gateway for ${maxQueueWaitMs / 1_000} s`;
      slots.refuse(request, busy(`${because}; ${occupantsOf(line)}`));
    }, maxQueueWaitMs);
    try {
      signal.throwIfAborted();
      if (!slots.hasFree) makeRoom(line, request, maxWaiting);
      await slots.take(request);
    } catch (error) {
      throw error instanceof AdminProblem ? error : callerLeft();
    } finally {
      clearTimeout(timer);
    }
    const holder = { ...label, sinceSteadyMs: steadyNow() };
    running.add(holder);
    return holder;
  }

  async function whenIdle(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  return {
    /**
     * Runs the work in a slot. Rejects with an {@link AdminProblem} if too many requests wait, or
     * for too long.
     */
    async run<Value>(request: QueueRequest, work: (slot: QueueSlot) => Promise<Value>): Promise<Value> {
      const line = lineOf(request);
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      underWay.add(over);
      void over.then(() => underWay.delete(over));
      const holder = await acquire(line, request).catch((error: unknown) => {
        end();
        throw error;
      });
      const exchanges: Promise<unknown>[] = [];
      const working = work({ signal: closing.signal, extendUntil: (exchange) => void exchanges.push(exchange) });
      void Promise.allSettled([working])
        .then(() => Promise.allSettled(exchanges))
        .then(() => {
          line.running.delete(holder);
          line.slots.release();
          end();
        });
      return await working;
    },
    /** Resolves when no request runs or waits. */
    whenIdle,
    /** Gives running requests `graceMs` to end, aborts the rest, and resolves when all are over. */
    async close(graceMs: number): Promise<void> {
      const timer = setTimeout(() => closing.abort(), graceMs);
      await whenIdle();
      clearTimeout(timer);
      closing.abort();
    },
  };
}

/** Refuses a request for which there is no room, or another one instead. */
function makeRoom(line: QueueLine, { appliance, principal, urgent = false }: QueueRequest, maxWaiting: number): void {
  const { waiting } = line.slots;
  const own = waiting.filter((each) => each.principal === principal && (each.urgent ?? false) === urgent).length;
  if (own < maxWaiting / 2 && (urgent || waiting.length < maxWaiting)) return;
  const usual = waiting.filter((each) => !each.urgent);
  const largest = largestShare(usual, (each) => each.principal, principal);
  const last = largest.members.at(-1);
  // Two principals must not keep all others out.
  if (!urgent && last && largest.mayEvict) {
    const because = `${appliance} has other callers, and ${last.principal} has most requests waiting`;
    line.slots.refuse(last, busy(because));
    return;
  }
  throw busy(
    `${appliance} has ${waiting.length} requests of the gateway waiting, ${own} of them from ${principal}; ${occupantsOf(line)}`,
  );
}

/** Describes what holds the slots: `2 reads of farm shop, unanswered for 40 s`. */
function occupantsOf({ running }: QueueLine): string {
  const alike = Map.groupBy(running, ({ noun, object }) => `${noun} ${object}`);
  const named = [...alike.values()].flatMap((holders) => {
    const [first] = holders;
    if (!first) return [];
    const seconds = Math.round((steadyNow() - Math.min(...holders.map(({ sinceSteadyMs }) => sinceSteadyMs))) / 1_000);
    return `${plural(holders.length, first.noun)} ${first.object}, unanswered for ${seconds} s`;
  });
  return `under way: ${named.join('; ') || 'nothing'}`;
}

/**
 * Returns a function that chooses an urgent request, or the first write, or the first read of the
 * principal whose last slot is the longest ago.
 */
function byLastSlot(): SlotsParts<QueueRequest>['next'] {
  /** The principals that had a slot, the last one at the end. */
  const principals = new Set<string>();
  return (waiting) => {
    const order = [...principals];
    const rankOf = ({ urgent, kind, principal }: QueueRequest): number =>
      urgent ? -2 : kind === 'write' ? -1 : order.indexOf(principal);
    const [next] = [...waiting].toSorted((one, other) => rankOf(one) - rankOf(other));
    if (next) {
      principals.delete(next.principal);
      principals.add(next.principal);
    }
    return next;
  };
}

function busy(because: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${because}; nothing was sent.`,
    headers: { 'retry-after': '2' },
  });
}
