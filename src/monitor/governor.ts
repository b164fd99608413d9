/** Stretches intervals so that all collectors of an appliance together stay within its busy share. */
export interface Governor {
  /** Records what a run of a collector cost the appliance. */
  spent(collector: string, busySeconds: number): void;
  /** A collector runs at every n-th tick of its schedule; 1 is every tick. */
  everyNthTick(collector: string): number;
}

export interface GovernedCollector {
  readonly name: string;
  readonly intervalMs: number;
}

/** Costs are smoothed, so that one slow answer does not halve the resolution of everything. */
const smoothing = 0.3;
const mostStretched = 60;

/**
 * `collectors` in order of precedence: the first keeps its interval as long as it can, since farm status is what people
 * wait for. The costliest of the others is stretched, one tick at a time, until the sum fits.
 */
export function createGovernor(collectors: readonly GovernedCollector[], maxBusyRatio: number): Governor {
  const [first, ...others] = collectors;
  const costs = new Map<string, number>();
  let strides = new Map<string, number>();

  return {
    spent(name, busySeconds) {
      const before = costs.get(name);
      costs.set(name, before === undefined ? busySeconds : before + smoothing * (busySeconds - before));
      strides = stretch();
    },
    everyNthTick: (name) => strides.get(name) ?? 1,
  };

  function stretch(): Map<string, number> {
    const result = new Map(collectors.map(({ name }) => [name, 1]));
    const load = ({ name, intervalMs }: GovernedCollector): number =>
      ((costs.get(name) ?? 0) * 1_000) / intervalMs / (result.get(name) ?? 1);
    const total = (): number => collectors.reduce((sum, each) => sum + load(each), 0);
    const costliest = (candidates: readonly GovernedCollector[]): GovernedCollector | undefined =>
      candidates
        .filter((each) => load(each) > 0 && (result.get(each.name) ?? 1) < mostStretched)
        .reduce<GovernedCollector | undefined>(
          (worst, each) => (worst === undefined || load(each) > load(worst) ? each : worst),
          undefined,
        );

    while (total() > maxBusyRatio) {
      // The first alone may take all of the share but a tenth, so that the others still come round.
      const firstCrowds = first !== undefined && load(first) > maxBusyRatio * 0.9;
      const chosen = costliest(firstCrowds ? [first] : others) ?? costliest(collectors);
      if (!chosen) break;
      result.set(chosen.name, (result.get(chosen.name) ?? 1) + 1);
    }
    return result;
  }
}
