import { type HistoryDatabase, inMemory } from './database.ts';

/** The most events of all appliances together, and their most bytes, in a file and in memory. */
export const maxStored = {
  file: { events: 100_000, bytes: 134_217_728 },
  memory: { events: 10_000, bytes: 16_777_216 },
} as const;
/** The most bytes of the newest configuration of an appliance, compressed. */
export const maxReadingBytes = 8_388_608;
/** Events are removed down to this part of a limit, so that not every new event removes one. */
const remaining = 0.95;

type Measure = 'events' | 'bytes';

interface Usage {
  readonly appliance: string;
  readonly amount: number;
}

/**
 * Keeps the history within its limits. Above a limit, the appliances with the most lose their oldest
 * events; an appliance with less than an equal share loses nothing.
 */
export class StorageLimits {
  readonly #database: HistoryDatabase;
  readonly #max: Readonly<Record<Measure, number>>;

  constructor(database: HistoryDatabase, file: string) {
    this.#database = database;
    this.#max = file === inMemory ? maxStored.memory : maxStored.file;
  }

  /** Removes events above the limits; called in the transaction that added them. */
  fitEvents(): void {
    for (const measure of ['events', 'bytes'] as const) {
      const usages = this.#database.rows<Usage>(`SELECT appliance, ${measure} AS amount FROM usage`);
      const sum = usages.reduce((total, { amount }) => total + amount, 0);
      if (sum <= this.#max[measure]) continue;
      const most = equalShare(
        usages.map(({ amount }) => amount),
        this.#max[measure] * remaining,
      );
      for (const { appliance, amount } of usages)
        if (amount > most) this.#removeEvents(appliance, measure, amount - most);
    }
  }

  /**
   * Removes the readings of an appliance that were not seen for longest, if it exceeds its limit.
   * Returns how many.
   */
  fitReadings(appliance: string): number {
    const [{ amount } = { amount: 0 }] = this.#database.rows<Usage>(
      'SELECT readings AS amount FROM usage WHERE appliance = :appliance',
      { appliance },
    );
    if (amount <= maxReadingBytes) return 0;
    return this.#database.rows(
      `DELETE FROM readings WHERE appliance = :appliance AND (collector, farm) IN (
         SELECT collector, farm FROM (
           SELECT collector, farm, length(objects) AS own, sum(length(objects)) OVER (ORDER BY seenMs, collector, farm) AS freed
           FROM readings WHERE appliance = :appliance)
         WHERE freed - own < :excess) RETURNING 1`,
      { appliance, excess: amount - maxReadingBytes * remaining },
    ).length;
  }

  /** Removes the oldest events of an appliance: calls of the gateway last, before them configurations. */
  #removeEvents(appliance: string, measure: Measure, excess: number): void {
    const own = measure === 'events' ? '1' : 'bytes';
    this.#database.run(
      `DELETE FROM events WHERE id IN (
         SELECT id FROM (
           SELECT id, ${own} AS own, sum(${own}) OVER (
             ORDER BY CASE kind WHEN 'change' THEN 2 WHEN 'configuration' THEN 1 ELSE 0 END, atMs, id
             ROWS UNBOUNDED PRECEDING) AS freed
           FROM events WHERE appliance = :appliance)
         WHERE freed - own < :excess)`,
      { appliance, excess },
    );
  }
}

/** Returns the largest amount for each, so that all together have at most `total`. */
export function equalShare(amounts: readonly number[], total: number): number {
  let left = total;
  const ascending = amounts.toSorted((one, other) => one - other);
  for (const [index, amount] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (amount > share) return share;
    left -= amount;
  }
  return Number.POSITIVE_INFINITY;
}
