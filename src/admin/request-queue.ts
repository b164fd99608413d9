import { AdminProblem } from './problem.ts';
import { callerLeft } from './refusals.ts';

/** A request that wants a slot on an appliance. */
export interface QueueRequest {
  readonly appliance: string;
  readonly kind: 'read' | 'change';
  readonly principal: string;
  /** Passes all requests that wait and are not urgent; never the ones that are running. */
  readonly urgent?: boolean;
  /** Takes the request back while it waits; an {@link AdminProblem} as its reason is what the caller gets. */
  readonly signal: AbortSignal;
}

/** A slot on an appliance, from the first call of a request to the end of the last one. */
export interface QueueSlot {
  /** Aborts when the gateway closes. It outlasts the caller: an appliance goes on with a call whose caller left. */
  readonly signal: AbortSignal;
  /** Keeps the slot until the promise has settled, even if the work has ended before. */
  keepFor(exchange: Promise<unknown>): void;
}

/**
 * Limits the requests of the gateway that an appliance works on at a time. Changes go one by one, so that what a guard
 * saw still holds when the change is sent. Reads have places of their own, so that neither holds up the other.
 */
export interface RequestQueue {
  /** Runs the work when its turn comes. Rejects with an {@link AdminProblem} when too many wait, or for too long. */
  run<Result>(request: QueueRequest, work: (slot: QueueSlot) => Promise<Result>): Promise<Result>;
  /** Gives what is running some time to end, aborts the rest, and resolves when all of it has ended. */
  close(graceMs: number): Promise<void>;
}

export interface RequestQueueParts {
  /** Reads of one appliance that run at the same time. */
  readonly maxReads: number;
  /** Requests of one kind that wait for an appliance; one principal has at most half of these places. */
  readonly maxWaiting: number;
  /** How long one may wait. */
  readonly maxWaitMs: number;
}

interface Waiting extends QueueRequest {
  readonly admit: () => void;
}

/** The requests of one kind for one appliance. */
interface Line {
  readonly slots: number;
  running: number;
  waiting: readonly Waiting[];
}

export function createRequestQueue({ maxReads, maxWaiting, maxWaitMs }: RequestQueueParts): RequestQueue {
  const lines = new Map<string, Line>();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  function lineOf({ appliance, kind }: QueueRequest): Line {
    const key = `${kind} ${appliance}`;
    const line = lines.get(key) ?? { slots: kind === 'read' ? maxReads : 1, running: 0, waiting: [] };
    lines.set(key, line);
    return line;
  }

  function refuseTooMany({ waiting }: Line, { appliance, principal, urgent = false }: QueueRequest): void {
    const own = waiting.filter((each) => each.principal === principal && (each.urgent ?? false) === urgent).length;
    if (own < maxWaiting / 2 && (urgent || waiting.length < maxWaiting)) return;
    throw busy(`${appliance} has ${waiting.length} requests of the gateway waiting, ${own} of them from ${principal}`);
  }

  /** Resolves when it is the request's turn. */
  async function enter(line: Line, request: QueueRequest): Promise<void> {
    if (line.running < line.slots && line.waiting.length === 0) {
      line.running += 1;
      return;
    }
    refuseTooMany(line, request);
    await wait(line, request, maxWaitMs);
  }

  function leave(line: Line): void {
    line.running -= 1;
    line.waiting[0]?.admit();
  }

  return {
    async run(request, work) {
      if (request.signal.aborted) throw abortReason(request);
      const line = lineOf(request);
      await enter(line, request);
      const exchanges: Promise<unknown>[] = [];
      const working = work({ signal: closing.signal, keepFor: (exchange) => void exchanges.push(exchange) });
      const ended = settled([working])
        .then(() => settled(exchanges))
        .then(() => {
          underWay.delete(ended);
          leave(line);
        });
      underWay.add(ended);
      return await working;
    },
    async close(graceMs) {
      const timer = setTimeout(() => closing.abort(), graceMs);
      // What waits gets its turn as places become free, and sees then that the gateway closes.
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(timer);
      closing.abort();
    },
  };
}

/** Resolves when a slot has become free for a request, and taken for it. */
function wait(line: Line, request: QueueRequest, maxWaitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end();
      reject(busy(`${request.appliance} was busy with other requests of the gateway for ${maxWaitMs / 1_000} s`));
    }, maxWaitMs);
    const takeBack = (): void => {
      end();
      reject(abortReason(request));
    };
    const mine: Waiting = {
      ...request,
      admit() {
        end();
        line.running += 1;
        resolve();
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

async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises);
}

function busy(because: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${because}; nothing was sent.`,
    remedy: 'Wait, and send fewer at a time: each starts a process on the appliance.',
    headers: { 'retry-after': '2' },
  });
}
