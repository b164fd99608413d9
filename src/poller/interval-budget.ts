export type IntervalBudget = ReturnType<typeof createIntervalBudget>;

export interface BudgetedCollector {
  readonly name: string;
  readonly intervalMs: number;
}

/**
 * Weights of a new cost: small for what differs from run to run, large once the cost has halved, as
 * the appliance is fast again.
 */
const smoothing = { usual: 0.1, halved: 0.6 };
const maxMultiplier = 60;
/**
 * The first collector alone may take all of the budget but a tenth, so that the others still run.
 */
const ratioOfFirst = 0.9;
/**
 * Multipliers are chosen to fit into this part of the budget, and kept until they do not fit at all
 * or smaller ones fit into it.
 */
const room = 0.95;
const ofFirst = (ratio: number): number => ratio * ratioOfFirst;

/**
 * Stretches intervals so that all collectors of an appliance together stay within its busy ratio;
 * `collectors` are in order of priority. The first keeps its interval as long
 * as possible, because people wait for farm status; only its own costs stretch it. The others are
 * stretched one interval at a time, first the one that frees the most, until the sum fits: this
 * stretches all of them the least. If it still does not fit, the call queue delays calls.
 * `onChange` is called after multipliers have changed.
 */
export function createIntervalBudget(
  collectors: readonly BudgetedCollector[],
  maxBusyRatio: number,
  onChange: () => void,
) {
  const [first, others] = [collectors.slice(0, 1), collectors.slice(1)];
  const costs = new Map<string, number>();
  const multipliers = new Map(collectors.map(({ name }) => [name, 1]));
  const multiplier = (name: string): number => multipliers.get(name) ?? 1;
  const load = ({ name, intervalMs }: BudgetedCollector, n: number): number =>
    ((costs.get(name) ?? 0) * 1_000) / intervalMs / n;

  return {
    /** Records the cost of a run of a collector; costs are smoothed. */
    spent(name: string, busySeconds: number): void {
      const before = costs.get(name) ?? busySeconds;
      const weight = busySeconds < before / 2 ? smoothing.halved : smoothing.usual;
      setCost(name, before + weight * (busySeconds - before));
    },
    /**
     * Records the cost of a whole round of a collector, as far as its calls have shown; not
     * smoothed.
     */
    expects: setCost,
    /** Returns n: the collector runs once in n intervals of its schedule. */
    multiplier,
  };

  function setCost(collector: string, cost: number): void {
    costs.set(collector, cost);
    // Called after each call, and mostly there is nothing to stretch.
    if (collectors.every(({ name }) => multiplier(name) === 1) && allFit()) return;
    const before = new Map(multipliers);
    adapt(first, ofFirst);
    const spentByFirst = loadOf(first, multiplier);
    adapt(others, (ratio) => ratio - spentByFirst);
    if (collectors.some(({ name }) => multiplier(name) !== before.get(name))) onChange();
  }

  function allFit(): boolean {
    return loadOf(first, multiplier) <= ofFirst(maxBusyRatio) && loadOf(collectors, multiplier) <= maxBusyRatio;
  }

  function loadOf(list: readonly BudgetedCollector[], multiplierOf: (name: string) => number): number {
    return list.reduce((sum, each) => sum + load(each, multiplierOf(each.name)), 0);
  }

  function adapt(list: readonly BudgetedCollector[], ratioOf: (ratio: number) => number): void {
    const smallest = fit(list, ratioOf(maxBusyRatio));
    const roomy = fit(list, ratioOf(maxBusyRatio * room));
    for (const [name, n] of roomy)
      if (multiplier(name) < (smallest.get(name) ?? 1) || multiplier(name) > n) multipliers.set(name, n);
  }

  function fit(list: readonly BudgetedCollector[], ratio: number): Map<string, number> {
    const result = new Map(list.map(({ name }) => [name, 1]));
    const of = (name: string): number => result.get(name) ?? 1;
    const frees = (each: BudgetedCollector): number => load(each, of(each.name)) - load(each, of(each.name) + 1);
    while (loadOf(list, of) > ratio) {
      const [best] = list
        .filter((each) => frees(each) > 0 && of(each.name) < maxMultiplier)
        .toSorted((a, b) => frees(b) - frees(a));
      if (!best) break;
      result.set(best.name, of(best.name) + 1);
    }
    return result;
  }
}
