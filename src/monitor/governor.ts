/** Stretches intervals so that all collectors of an appliance together stay within its busy share. */
export interface Governor {
  /** A run of a collector cost the appliance this; what runs cost is smoothed. */
  spent(collector: string, busySeconds: number): void;
  /** A whole round of a collector costs this, as far as its calls have told; taken as it is. */
  expects(collector: string, busySeconds: number): void;
  /** A collector runs once in n intervals of its schedule; 1 is every time. */
  stride(collector: string): number;
}

export interface GovernedCollector {
  readonly name: string;
  readonly intervalMs: number;
}

/** What differs from run to run hardly counts; half the cost or less shows that the appliance has become fast again. */
const smoothing = { usual: 0.1, halved: 0.6 };
const longestStride = 60;
/** The first alone may take all of the share but a tenth, so that the others still come round. */
const shareOfFirst = 0.9;
/** Strides are chosen to fit with room to spare, and kept until they do not fit at all or shorter ones fit with that room. */
const room = 0.95;
const ofFirst = (ratio: number): number => ratio * shareOfFirst;

/**
 * `collectors` in order of precedence: the first keeps its interval as long as it can, since farm status is what people
 * wait for; it gives way to its own costs only. Of the others the one is stretched, an interval at a time, where that
 * frees the most, until the sum fits: so all of them together are stretched the least. What does not fit even then is for
 * the turnstile. `onChange` is called after strides have changed.
 */
export function createGovernor(
  collectors: readonly GovernedCollector[],
  maxBusyRatio: number,
  onChange: () => void,
): Governor {
  const [first, others] = [collectors.slice(0, 1), collectors.slice(1)];
  const costs = new Map<string, number>();
  const strides = new Map(collectors.map(({ name }) => [name, 1]));
  const stride = (name: string): number => strides.get(name) ?? 1;
  const load = ({ name, intervalMs }: GovernedCollector, n: number): number =>
    ((costs.get(name) ?? 0) * 1_000) / intervalMs / n;

  return {
    spent(name, busySeconds) {
      const before = costs.get(name) ?? busySeconds;
      const weight = busySeconds < before / 2 ? smoothing.halved : smoothing.usual;
      learn(name, before + weight * (busySeconds - before));
    },
    expects: learn,
    stride,
  };

  function learn(collector: string, cost: number): void {
    costs.set(collector, cost);
    // Told after each call, and mostly there is nothing to stretch.
    if (collectors.every(({ name }) => stride(name) === 1) && allFit()) return;
    const before = new Map(strides);
    adapt(first, ofFirst);
    const spentByFirst = loadOf(first, stride);
    adapt(others, (ratio) => ratio - spentByFirst);
    if (collectors.some(({ name }) => stride(name) !== before.get(name))) onChange();
  }

  function allFit(): boolean {
    return loadOf(first, stride) <= ofFirst(maxBusyRatio) && loadOf(collectors, stride) <= maxBusyRatio;
  }

  function loadOf(list: readonly GovernedCollector[], strideOf: (name: string) => number): number {
    return list.reduce((sum, each) => sum + load(each, strideOf(each.name)), 0);
  }

  function adapt(list: readonly GovernedCollector[], shareOf: (ratio: number) => number): void {
    const least = fit(list, shareOf(maxBusyRatio));
    const roomy = fit(list, shareOf(maxBusyRatio * room));
    for (const [name, n] of roomy) if (stride(name) < (least.get(name) ?? 1) || stride(name) > n) strides.set(name, n);
  }

  function fit(list: readonly GovernedCollector[], ratio: number): Map<string, number> {
    const result = new Map(list.map(({ name }) => [name, 1]));
    const of = (name: string): number => result.get(name) ?? 1;
    const frees = (each: GovernedCollector): number => load(each, of(each.name)) - load(each, of(each.name) + 1);
    while (loadOf(list, of) > ratio) {
      const [best] = list
        .filter((each) => frees(each) > 0 && of(each.name) < longestStride)
        .toSorted((a, b) => frees(b) - frees(a));
      if (!best) break;
      result.set(best.name, of(best.name) + 1);
    }
    return result;
  }
}
