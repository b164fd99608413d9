import type { FarmFact } from '../collectors/collector.ts';

/** Whose turn it is in the rounds of a collector that asks farm by farm, and what a round costs. */
export interface Rota {
  /**
   * First those who were never asked, then those who have waited longest: a round that was cut off is followed by one that
   * goes on where it ended. Farms that are not among these are forgotten.
   */
  inTurn(farms: readonly FarmFact[]): readonly FarmFact[];
  /** A farm was asked; `busySeconds` where it answered: a call that was given up says how patient we are, not what it cost. */
  asked(farm: string, busySeconds: number | undefined): void;
  /** What each farm cost when it was last asked, in sum; where that is not known, the mean of the others. */
  roundSeconds(farms: number): number;
}

export function createRota(): Rota {
  /** Seconds by farm, in the order in which they were asked. */
  const costs = new Map<string, number | undefined>();

  return {
    inTurn(farms) {
      const present = new Map(farms.map((farm) => [farm.name, farm]));
      for (const name of costs.keys()) if (!present.has(name)) costs.delete(name);
      const waiting = [...costs.keys()].flatMap((name) => present.get(name) ?? []);
      return [...farms.filter(({ name }) => !costs.has(name)), ...waiting];
    },
    asked(farm, busySeconds) {
      costs.delete(farm);
      costs.set(farm, busySeconds);
    },
    roundSeconds(farms) {
      let sum = 0;
      let known = 0;
      for (const each of costs.values()) {
        if (each === undefined) continue;
        sum += each;
        known += 1;
      }
      return known === 0 ? 0 : (sum / known) * farms;
    },
  };
}
