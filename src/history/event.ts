import type { StatefulKind } from '../lib/states.ts';
import type { ConfiguredKind } from '../collectors/configured.ts';

/**
 * The kinds of events. `configuration`: differences between two readings. `state`: changes of state.
 * `change`: a call through the gateway. `reload` and `start` are of the exporter, `restart` of an
 * appliance.
 */
export const eventKinds = ['configuration', 'state', 'change', 'reload', 'start', 'restart'] as const;

export type EventKind = (typeof eventKinds)[number];

/** A setting or a state that changed, or a whole object that is new or gone. */
export interface Difference {
  readonly object: ConfiguredKind | StatefulKind | 'appliance';
  /** Empty if the object belongs to no farm, as `service`. */
  readonly farm: string;
  readonly service: string;
  readonly name: string;
  /** The name of the setting, or `state`; empty if the whole object is new or gone. */
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
  /** Empty if it concerns no farm, or several. */
  readonly farm: string;
  /** When it was seen. */
  readonly atMs: number;
  /** The earliest possible moment; undefined if the moment itself is known. */
  readonly sinceMs?: number | undefined;
  /**
   * The author, such as `change ID by alice` or {@link outsideGateway}; several possible authors are
   * joined by ` or `. Undefined for events without one.
   */
  readonly by?: string | undefined;
  /** A sentence on the event, if it has no differences. */
  readonly text?: string | undefined;
  /** How many events it stands for, if it alternates; otherwise 1. */
  readonly count: number;
  /** When its reverse was last seen; undefined unless it alternates. */
  readonly reversedMs?: number | undefined;
  /** The first ones, see stored-event.ts. */
  readonly differences: readonly Difference[];
  /** How many more there are; absent if all are listed. */
  readonly unlisted?: number | undefined;
}

/** An event before it is stored, with all of its differences. */
export type NewEvent = Omit<HistoryEvent, 'id' | 'count' | 'reversedMs' | 'unlisted'>;

/** The author of a difference that no call of the gateway explains. */
export const outsideGateway = 'elsewhere';

/** The state of an appliance that answers; of another, it begins with `does not answer`. */
export const answeringState = 'answers';

/** The most events that a search returns, and the most bytes of their texts. */
export const maxFound = 1_000;
export const maxFoundBytes = 1_048_576;
/** The most bytes of events that a search reads, including those that do not match. */
export const maxReadBytes = 16 * maxFoundBytes;

/** Which events to find; absent members match all. */
export interface EventQuery {
  readonly appliance?: string | undefined;
  /**
   * Also matches events that name the farm in a difference, and events of several farms that do not
   * list all their differences.
   */
  readonly farm?: string | undefined;
  /**
   * With a farm, also matches what it depends on: these certificates, and restarts, versions and
   * outages of its appliance.
   */
  readonly certificates?: readonly string[] | undefined;
  readonly sinceMs?: number | undefined;
  readonly kinds?: readonly EventKind[] | undefined;
  /** The `next` of an earlier result. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The result of a search, with the newest events first. */
export interface FoundEvents {
  readonly events: readonly HistoryEvent[];
  /** The `before` of the next search, also if `events` is empty; absent if there are no older ones. */
  readonly next?: string | undefined;
  /** How many readings and events could not be written or read since the start; absent if none. */
  readonly lost?: number | undefined;
}
