import type { FarmFact } from '../collectors/collector.ts';

/** The order of farms in the rounds of a collector that asks farm by farm, and what a round costs. */
export interface FarmOrder {
  /**
   * Orders the farms for the next round: farms that were never read first, then those that have waited longest, so that a
   * round goes on where the one before was cut off. Forgets farms that are not in the list.
   */
  next(farms: readonly FarmFact[]): readonly FarmFact[];
  /** Notes that a farm was read; `busySeconds` is undefined where no answer came, as a time-out is no cost. */
  read(farm: string, busySeconds: number | undefined): void;
  /** Returns the cost of a round in seconds: the last cost of each farm, the mean of the others where it is not known. */
  roundSeconds(farms: number): number;
}

export function createFarmOrder(): FarmOrder {
  /** Seconds by farm, in the order in which they were read. */
  const costs = new Map<string, number | undefined>();

  return {
    next(farms) {
      const present = new Map(farms.map((farm) => [farm.name, farm]));
      for (const name of costs.keys()) if (!present.has(name)) costs.delete(name);
      const waiting = [...costs.keys()].flatMap((name) => present.get(name) ?? []);
      return [...farms.filter(({ name }) => !costs.has(name)), ...waiting];
    },
    read(farm, busySeconds) {
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
