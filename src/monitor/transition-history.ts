import type { RecentTransition } from './status.ts';

/** The newest changes of state of all appliances. */
export interface TransitionHistory {
  readonly add: (transition: RecentTransition) => void;
  /** Forgets appliances that are not watched any more. */
  keepOnly(isWatched: (appliance: string) => boolean): void;
  /** Another list whenever there is a new one. */
  readonly newestFirst: readonly RecentTransition[];
}

const most = 200;

export function createTransitionHistory(): TransitionHistory {
  let newestFirst: readonly RecentTransition[] = [];
  return {
    add(transition) {
      newestFirst = [transition, ...newestFirst.slice(0, most - 1)];
    },
    keepOnly(isWatched) {
      const kept = newestFirst.filter(({ appliance }) => isWatched(appliance));
      if (kept.length < newestFirst.length) newestFirst = kept;
    },
    get newestFirst() {
      return newestFirst;
    },
  };
}
