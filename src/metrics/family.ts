/** A metric family as a value: HELP, TYPE and the label names, apart from any number. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** Label names beside `appliance`, in the order in which they are printed. */
  readonly labels: readonly string[];
  /** True for thousands of series whose sums are another family: the first to go at the limit. */
  readonly isDetail?: boolean;
  /** True if its series also have the labels that the configuration gives to appliances. */
  readonly hasConfiguredLabels?: boolean;
}

/**
 * A family with one series per state of a closed list; exactly one of them is 1. The list always
 * has `unknown`.
 */
export interface StateSet extends Family {
  readonly states: readonly string[];
  /** The label that holds the state. */
  readonly stateLabel: string;
}

function ofType(type: Family['type']) {
  return (name: string, help: string, labels: readonly string[] = []): Family => ({ name, help, type, labels });
}

/** Describes a gauge; `help` ends with the source in brackets, as for all families. */
export const gauge = ofType('gauge');
/** Describes a counter: a number that only a restart of its owner sets back. */
export const counter = ofType('counter');
/** Describes a histogram with cumulative buckets in seconds. */
export const histogram = ofType('histogram');

/**
 * Describes a state set (OpenMetrics' idea in the form that classic Prometheus text knows: gauges
 * with a `status` label).
 */
export function stateSet(
  name: string,
  help: string,
  labels: readonly string[],
  states: readonly string[],
  stateLabel = 'status',
): StateSet {
  return { name, help, type: 'gauge', labels, states, stateLabel };
}

/** A number, or a boolean for 1 or 0; null and undefined write no sample: absent is not zero. */
export type Value = number | boolean | null | undefined;

export type Labels = Readonly<Record<string, string>>;

/** Receives the numbers of a collector. */
export interface Emit {
  /** Writes one number; `extra` are the labels that the configuration gives to the appliance. */
  sample(family: Family, labels: Labels, value: Value, extra?: Labels): void;
  /** Writes one series per state; a word outside the closed list sets `unknown`. */
  state(set: StateSet, labels: Labels, state: string): void;
}
