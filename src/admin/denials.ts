import type { Principal } from './principal.ts';

/** The number of refusals of a principal that were not recorded one by one. */
export interface Suppressed {
  readonly principal: Principal;
  readonly count: number;
}

/** Limits the recorded refusals: a client without permissions could fill the disk with them. */
export interface Denials {
  /**
   * Returns true if another refusal of this principal may be recorded in this minute; otherwise
   * counts it. Drain finished minutes first.
   */
  admit(principal: Principal): boolean;
  /** Drains the counts of finished minutes, or including the current one. */
  take(until: 'minute' | 'now'): readonly Suppressed[];
}

export interface DenialsParts {
  readonly now: () => number;
  /** Per principal. */
  readonly maxPerMinute: number;
}

interface Tally extends Suppressed {
  readonly minute: number;
  readonly written: number;
}

export function createDenials({ now, maxPerMinute }: DenialsParts): Denials {
  // By name, so the configuration bounds its size.
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
      // Any other minute: the clock may have been set back.
      const over = [...tallies].filter(([, tally]) => until === 'now' || tally.minute !== minute);
      for (const [name] of over) tallies.delete(name);
      return over.map(([, tally]) => tally).filter(({ count }) => count > 0);
    },
  };
}
