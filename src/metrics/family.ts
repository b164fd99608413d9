/** A metric family as a value: HELP, TYPE and the label names, apart from any number. */
export interface Family<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** Label names beside `appliance`, in the order in which they are printed. */
  readonly labels: readonly Label[];
  /**
   * Set where every small part has its series, of which there may be thousands: the first to go at
   * the limit of series.
   */
  readonly detail?: true;
}

/**
 * A family with one series per state of a closed list, of which exactly one is 1; it always knows
 * `unknown`.
 */
export interface StateSet<Label extends string = string, State extends string = string> extends Family<Label> {
  readonly states: readonly State[];
  /** The label that holds the state. */
  readonly stateLabel: string;
}

function ofType(type: Family['type']) {
  return <const Label extends string = never>(
    name: string,
    help: string,
    labels: readonly Label[] = [],
  ): Family<Label> => ({ name, help, type, labels });
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
export function stateSet<const Label extends string, const State extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  states: readonly State[],
  stateLabel = 'status',
): StateSet<Label, State> {
  return { name, help, type: 'gauge', labels, states, stateLabel };
}

/** Marks a family as detail: sums say in short what its many series say one by one. */
export function detail<const Of extends Family>(family: Of): Of {
  return { ...family, detail: true };
}

/** A number, or null and undefined for "not known", which writes no sample: absent is not zero. */
export type Value = number | null | undefined;

/** Receives the numbers of a collector. */
export interface Emit {
  sample<Label extends string>(family: Family<Label>, labels: Readonly<Record<Label, string>>, value: Value): void;
  /** Writes one series per state; a word outside the closed list sets `unknown`. */
  state<Label extends string>(set: StateSet<Label>, labels: Readonly<Record<Label, string>>, state: string): void;
  /**
   * Writes a constant 1 whose facts are labels; `extra` adds labels that only the configuration
   * knows.
   */
  info<Label extends string>(
    family: Family<Label>,
    labels: Readonly<Record<Label, string>>,
    extra?: Readonly<Record<string, string>>,
  ): void;
}
