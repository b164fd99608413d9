import type { Principal } from './principal.ts';

/** Refusals of a principal that were not written down one by one. */
export interface Suppressed {
  readonly principal: Principal;
  readonly count: number;
}

/** Bounds how many refusals are written down: whoever may do nothing could fill the disk with them. */
export interface Denials {
  /** Whether one more of this principal may be written down in this minute; it is counted otherwise. Those of minutes that are over are taken first. */
  admit(principal: Principal): boolean;
  /** Takes what was counted, and was not told yet: of the minutes that are over, or up to now. */
  take(until: 'minute' | 'now'): readonly Suppressed[];
}

export interface DenialsParts {
  readonly now: () => number;
  /** Of one principal. */
  readonly maxPerMinute: number;
}

interface Tally extends Suppressed {
  readonly minute: number;
  readonly written: number;
}

export function createDenials({ now, maxPerMinute }: DenialsParts): Denials {
  // By name: there are no more of them than the configuration has.
  const tallies = new Map<string, Tally>();
  const thisMinute = (): number => Math.floor(now() / 60_000);
  return {
    admit(principal) {
      const tally = tallies.get(principal.name) ?? { principal, minute: thisMinute(), written: 0, count: 0 };
      const isAdmitted = tally.written < maxPerMinute;
      tallies.set(
        principal.name,
        isAdmitted ? { ...tally, written: tally.written + 1 } : { ...tally, count: tally.count + 1 },
      );
      return isAdmitted;
    },
    take(until) {
      const minute = thisMinute();
      // Another minute, not a later one: the clock may have been set back.
      const over = [...tallies].filter(([, tally]) => until === 'now' || tally.minute !== minute);
      for (const [name] of over) tallies.delete(name);
      return over.map(([, tally]) => tally).filter(({ count }) => count > 0);
    },
  };
}
