import { plural } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { AdminProblem, callerLeft } from '../policy/problem.ts';

/** A request for a slot on an appliance. */
export interface QueueRequest {
  readonly appliance: string;
  readonly kind: 'read' | 'change';
  readonly principal: string;
  /** Describes it to those that wait for it. */
  readonly what: QueuedWork;
  /** True to overtake waiting requests that are not urgent; never running ones. */
  readonly urgent?: boolean;
  /**
   * Cancels the request while it waits; an {@link AdminProblem} as its reason is sent to the
   * caller.
   */
  readonly signal: AbortSignal;
}

/** Such as a `read` `of farm shop`. */
export interface QueuedWork {
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
  keepFor(exchange: Promise<unknown>): void;
}

/**
 * Limits the requests of the gateway that an appliance works on at a time. Changes go one by one,
 * so that what a guard saw still holds when the change is sent. Reads have places of their own, so
 * that neither holds up the other.
 */
export type RequestQueue = ReturnType<typeof createRequestQueue>;

export interface RequestQueueParts {
  /** Returns the maximum of concurrent reads per appliance; a reload may change it. */
  readonly maxReads: () => number;
  /**
   * Maximum of waiting requests of one kind per appliance; one principal gets at most half of it,
   * and loses a place to one that has fewer.
   */
  readonly maxWaiting: number;
  /** Maximum wait. */
  readonly maxWaitMs: number;
}

interface QueuedRequest extends QueueRequest {
  readonly admit: () => void;
  readonly refuse: (problem: AdminProblem) => void;
}

/** The holder of a slot, and since when by the steady clock. */
interface Holder extends QueuedWork {
  readonly sinceMs: number;
}

/** The requests of one kind for one appliance. */
interface Line {
  readonly running: Set<Holder>;
  waiting: readonly QueuedRequest[];
  /** The names of the principals that had a slot, the last one at the end. */
  readonly served: Set<string>;
}

export function createRequestQueue({ maxReads, maxWaiting, maxWaitMs }: RequestQueueParts) {
  const lines = new Map<string, Line>();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  function lineOf({ appliance, kind }: QueueRequest): Line {
    const key = `${kind} ${appliance}`;
    const line = lines.get(key) ?? { running: new Set<Holder>(), waiting: [], served: new Set<string>() };
    lines.set(key, line);
    return line;
  }

  function makeRoom(line: Line, { appliance, principal, urgent = false }: QueueRequest): void {
    const { waiting } = line;
    const own = waiting.filter((each) => each.principal === principal && (each.urgent ?? false) === urgent).length;
    if (own < maxWaiting / 2 && (urgent || waiting.length < maxWaiting)) return;
    const largest = largestShare(waiting);
    const last = largest.at(-1);
    // Two principals must not keep all others out.
    if (!urgent && last && largest.length > own + 1) {
      last.refuse(busy(`${appliance} has other callers, and ${last.principal} has most requests waiting`));
      return;
    }
    throw busy(
      `${appliance} has ${waiting.length} requests of the gateway waiting, ${own} of them from ${principal}; ${occupantsOf(line)}`,
    );
  }

  /** Resolves when the request has a slot, to what holds it. */
  async function enter(line: Line, request: QueueRequest): Promise<Holder> {
    const slots = request.kind === 'read' ? maxReads() : 1;
    if (line.running.size < slots && line.waiting.length === 0) return take(line, request);
    makeRoom(line, request);
    return await wait(line, request, maxWaitMs);
  }

  async function ended(): Promise<void> {
    // Waiting requests get freed slots.
    while (underWay.size > 0) await Promise.all(underWay);
  }

  function leave(line: Line, holder: Holder): void {
    line.running.delete(holder);
    nextOf(line)?.admit();
  }

  return {
    /**
     * Runs the work in a slot. Rejects with an {@link AdminProblem} if too many requests wait, or
     * for too long.
     */
    async run<Result>(request: QueueRequest, work: (slot: QueueSlot) => Promise<Result>): Promise<Result> {
      if (request.signal.aborted) throw abortReason(request);
      const line = lineOf(request);
      const holder = await enter(line, request);
      const exchanges: Promise<unknown>[] = [];
      const working = work({ signal: closing.signal, keepFor: (exchange) => void exchanges.push(exchange) });
      const ended = Promise.allSettled([working])
        .then(() => Promise.allSettled(exchanges))
        .then(() => {
          underWay.delete(ended);
          leave(line, holder);
        });
      underWay.add(ended);
      return await working;
    },
    /** Resolves when no request runs or waits. */
    ended,
    /** Gives running requests `graceMs` to end, aborts the rest, and resolves when all are over. */
    async close(graceMs: number): Promise<void> {
      const timer = setTimeout(() => closing.abort(), graceMs);
      await ended();
      clearTimeout(timer);
      closing.abort();
    },
  };
}

/** Returns the waiting requests of the principal that has most of them, without urgent ones. */
function largestShare(waiting: readonly QueuedRequest[]): readonly QueuedRequest[] {
  const shares = Map.groupBy(
    waiting.filter(({ urgent }) => !urgent),
    ({ principal }) => principal,
  );
  return [...shares.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

/** Gives a slot to a request. */
function take({ running, served }: Line, { principal, what }: QueueRequest): Holder {
  served.delete(principal);
  served.add(principal);
  const holder = { ...what, sinceMs: steadyNow() };
  running.add(holder);
  return holder;
}

/** Names what holds the slots: `2 reads of farm shop, unanswered for 40 s`. */
function occupantsOf({ running }: Line): string {
  const alike = Map.groupBy(running, ({ noun, object }) => `${noun} ${object}`);
  const named = [...alike.values()].flatMap((holders) => {
    const [first] = holders;
    if (!first) return [];
    const seconds = Math.round((steadyNow() - Math.min(...holders.map(({ sinceMs }) => sinceMs))) / 1_000);
    return `${plural(holders.length, first.noun)} ${first.object}, unanswered for ${seconds} s`;
  });
  return `under way: ${named.join('; ') || 'nothing'}`;
}

/**
 * Returns an urgent request, or the first change, or the first read of the principal whose last
 * slot is the longest ago.
 */
function nextOf({ waiting, served }: Line): QueuedRequest | undefined {
  const order = [...served];
  const lastOf = ({ principal }: QueuedRequest): number => order.indexOf(principal);
  const [first] = waiting;
  if (!first || first.urgent || first.kind === 'change') return first;
  return waiting.reduce((next, each) => (lastOf(each) < lastOf(next) ? each : next), first);
}

/** Resolves when a freed slot was assigned to a request. */
function wait(line: Line, request: QueueRequest, maxWaitMs: number): Promise<Holder> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end();
      const seconds = maxWaitMs / 1_000;
      const busyWith = `${request.appliance} was busy with other requests of the gateway for ${seconds} s`;
      reject(busy(`${busyWith}; ${occupantsOf(line)}`));
    }, maxWaitMs);
    const takeBack = (): void => {
      end();
      reject(abortReason(request));
    };
    const mine: QueuedRequest = {
      ...request,
      admit() {
        end();
        resolve(take(line, request));
      },
      refuse(problem) {
        end();
        reject(problem);
      },
    };
    function end(): void {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', takeBack);
      line.waiting = line.waiting.filter((each) => each !== mine);
    }
    line.waiting = request.urgent
      ? [...line.waiting.filter(({ urgent }) => urgent), mine, ...line.waiting.filter(({ urgent }) => !urgent)]
      : [...line.waiting, mine];
    request.signal.addEventListener('abort', takeBack, { once: true });
  });
}

function abortReason({ signal }: QueueRequest): AdminProblem {
  const reason: unknown = signal.reason;
  return reason instanceof AdminProblem ? reason : callerLeft();
}

function busy(because: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${because}; nothing was sent.`,
    headers: { 'retry-after': '2' },
  });
}
