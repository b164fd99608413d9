import { AdminProblem } from './problem.ts';

/** Lets a few requests at a time pass to an appliance, in the order in which they came. */
export interface Lane {
  /** Resolves, when it is the caller's turn, to what ends the turn. Rejects with an {@link AdminProblem}. */
  enter(principal: string, signal: AbortSignal): Promise<() => void>;
}

export interface LaneOptions {
  readonly appliance: string;
  /** Requests that pass at the same time. */
  readonly slots: number;
  /** Requests that wait behind them; nobody may take more than half of the places. */
  readonly mostWaiting: number;
  /** How long one may wait. */
  readonly patienceMs: number;
}

interface Waiting {
  readonly principal: string;
  readonly admit: () => void;
}

export function createLane({ appliance, slots, mostWaiting, patienceMs }: LaneOptions): Lane {
  const waiting = new Set<Waiting>();
  let passing = 0;

  function admitted(): () => void {
    passing += 1;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      passing -= 1;
      const [next] = waiting;
      next?.admit();
    };
  }

  function refuseCrowd(principal: string): void {
    const own = [...waiting].filter((each) => each.principal === principal).length;
    if (waiting.size < mostWaiting && own < mostWaiting / 2) return;
    throw busy(`${appliance} has ${waiting.size} requests of the gateway waiting, ${own} of them from ${principal}`);
  }

  return {
    async enter(principal, signal) {
      if (passing < slots && waiting.size === 0) return admitted();
      refuseCrowd(principal);
      return await new Promise((resolve, reject) => {
        const giveUp = (): void => {
          leaveQueue();
          reject(busy(`${appliance} was busy with other requests of the gateway for ${patienceMs / 1_000} s`));
        };
        const timer = setTimeout(giveUp, patienceMs);
        const mine: Waiting = {
          principal,
          admit() {
            leaveQueue();
            resolve(admitted());
          },
        };
        function leaveQueue(): void {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          waiting.delete(mine);
        }
        waiting.add(mine);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

function busy(because: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${because}; nothing was sent.`,
    remedy: 'Wait, and send fewer at a time: each starts a process on the appliance.',
    headers: { 'retry-after': '2' },
  });
}
