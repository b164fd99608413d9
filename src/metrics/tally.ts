import type { Family } from './family.ts';
import type { Emit, HistogramValue } from './samples.ts';

/** What we count for one appliance, rendered like any reading. */
export interface Counted {
  /** Among all that is counted for the appliance. */
  readonly name: string;
  /** Another number whenever something was counted: who has shown it need not look again before. */
  version(): number;
  expose(emit: Emit): void;
}

/** A counter, kept by label values. */
export interface Tally<Label extends string> extends Counted {
  add(labels: Readonly<Record<Label, string>>, amount?: number): void;
}

/**
 * `known` are the label values that exist in advance: a counter born at 1 has an increase that nobody sees. They are asked for at
 * each exposure and not kept, as most of them stay at 0 for ever, for each of a thousand appliances; none may go again.
 */
export function createTally<Label extends string>(
  family: Family<Label>,
  known: () => Iterable<Readonly<Record<Label, string>>> = () => [],
): Tally<Label> {
  const counts = new Map<
    string,
    { readonly labels: Readonly<Record<Label, string>>; count: number; isKnown: boolean }
  >();
  const keyOf = (labels: Readonly<Record<Label, string>>): string => {
    let key = '';
    for (const label of family.labels) key += `\n${labels[label]}`;
    return key;
  };
  let version = 0;
  return {
    name: family.name,
    version: () => version,
    add(labels, amount = 1) {
      const key = keyOf(labels);
      const entry = counts.get(key) ?? { labels, count: 0, isKnown: false };
      counts.set(key, entry);
      entry.count += amount;
      version += 1;
    },
    expose(emit) {
      for (const labels of known()) {
        const entry = counts.size > 0 ? counts.get(keyOf(labels)) : undefined;
        if (entry) entry.isKnown = true;
        emit.sample(family, labels, entry?.count ?? 0);
      }
      for (const { labels, count, isKnown } of counts.values()) if (!isKnown) emit.sample(family, labels, count);
    },
  };
}

/** A histogram of seconds. */
export interface DurationTally extends Counted {
  observe(seconds: number): void;
}

/** `bounds` are the upper bounds in seconds, ascending. */
export function createDurationTally<Label extends string>(
  family: Family<Label>,
  labels: Readonly<Record<Label, string>>,
  bounds: readonly number[],
): DurationTally {
  const counts = bounds.map(() => 0);
  let sum = 0;
  let count = 0;
  return {
    name: [family.name, ...family.labels.map((label) => labels[label])].join(' '),
    version: () => count,
    observe(seconds) {
      sum += seconds;
      count += 1;
      bounds.forEach((bound, index) => {
        if (seconds <= bound) counts[index] = (counts[index] ?? 0) + 1;
      });
    },
    expose(emit) {
      const buckets: HistogramValue['buckets'] = bounds.map((bound, index) => [bound, counts[index] ?? 0]);
      emit.histogram(family, labels, { buckets, sum, count });
    },
  };
}
