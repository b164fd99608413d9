import type { ConfiguredKind } from '../collectors/configured.ts';
import type { TransitionObject } from '../collectors/collector.ts';

/**
 * The kinds of events: a difference between two readings of the configuration, a change of state, a
 * call through the gateway, a reload or a start of the exporter, a restart of an appliance.
 */
export const eventKinds = ['configuration', 'state', 'change', 'reload', 'start', 'restart'] as const;

export type EventKind = (typeof eventKinds)[number];

/** An object that is not the same as before. */
export interface Difference {
  readonly object: ConfiguredKind | TransitionObject | 'appliance';
  /** Empty for an object of no farm, and of no service. */
  readonly farm: string;
  readonly service: string;
  readonly name: string;
  /** The setting, or `state`; empty where the whole object is new or gone. */
  readonly setting: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Something that happened to an appliance or to the exporter; times are Unix milliseconds. */
export interface HistoryEvent {
  /** Higher for later ones. */
  readonly id: number;
  readonly kind: EventKind;
  /** Empty for the exporter itself. */
  readonly appliance: string;
  /** Empty where it concerns no farm, or several. */
  readonly farm: string;
  /** When it was seen. */
  readonly atMs: number;
  /** The reading before, after which it happened; undefined where the moment itself is known. */
  readonly sinceMs?: number | undefined;
  /**
   * The author, as `change ID by alice`, or {@link outsideGateway}; several that fit equally with ` or `
   * between them. Undefined where nobody is one.
   */
  readonly by?: string | undefined;
  /** A sentence on the event, where no difference says it. */
  readonly text?: string | undefined;
  /** How often it happened to and fro. */
  readonly count: number;
  /** When it was last seen to happen the other way round; undefined unless it alternates. */
  readonly reversedMs?: number | undefined;
  /** The first ones, see kept-event.ts. */
  readonly differences: readonly Difference[];
  /** How many more there are; absent if all are listed. */
  readonly unlisted?: number | undefined;
}

/** An event before it is kept, with all of its differences. */
export type NewEvent = Omit<HistoryEvent, 'id' | 'count' | 'reversedMs' | 'unlisted'>;

/** The author of a difference that no call of the gateway explains. */
export const outsideGateway = 'elsewhere';

/** The most events of one answer, and the most bytes of their texts. */
export const maxFound = 1_000;
export const maxFoundBytes = 1_048_576;
/** The most bytes of events that one search reads: it looks into many that it does not want. */
export const maxReadBytes = 16 * maxFoundBytes;

/** Which events are wanted; omitted members match all. */
export interface EventQuery {
  readonly appliance?: string | undefined;
  /**
   * Matches events that name the farm in a difference, too, and those of several farms that do not
   * list all differences.
   */
  readonly farm?: string | undefined;
  /**
   * With a farm: also what it depends on, which are restarts, versions and answers of its
   * appliance, and these certificates.
   */
  readonly certificates?: readonly string[] | undefined;
  readonly sinceMs?: number | undefined;
  readonly kinds?: readonly EventKind[] | undefined;
  /** The `next` of an answer. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** An answer with the newest events first. */
export interface FoundEvents {
  readonly events: readonly HistoryEvent[];
  /** The `before` of the next question, also after an answer without events; absent if there are no older ones. */
  readonly next?: string | undefined;
}
