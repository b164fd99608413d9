import type { BreakerState } from '../appliance/breaker.ts';
import type { Collector } from '../collectors/collector.ts';
import { keyOf, type Origin } from './origin.ts';
import type { CollectorStatus } from './status.ts';
import type { SinceMs } from './transitions.ts';

/** The newest data of a collector, or of a collector and a farm. */
export interface Reading<Data = unknown> extends Origin {
  readonly data: Data;
  /** When the states in it began, as far as that was seen. */
  readonly sinceMs: SinceMs | undefined;
}

/** One appliance at one moment: all that the views of it are made from. Immutable. */
export interface Snapshot {
  readonly name: string;
  /** From the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  /** As `zlb_up`; undefined before the first call came back. */
  readonly up: boolean | undefined;
  /** True after a 402, until a call behind the activation check succeeds. */
  readonly deactivated: boolean;
  readonly breaker: BreakerState;
  /** Readings that are not stale, by their key. */
  readonly readings: ReadonlyMap<string, Reading>;
  readonly series: number;
  readonly seriesLeftOut: number;
  readonly collectors: readonly CollectorStatus[];
}

/** Returns a collector's reading, of one farm where it is named; undefined where there is none, or a stale one. */
export function readingOf<Data>(
  { readings }: Pick<Snapshot, 'readings'>,
  collector: Collector<Data>,
  farm?: string,
): Reading<Data> | undefined {
  const origin = farm === undefined ? { collector: collector.name } : { collector: collector.name, farm };
  // The poller stores nothing else under this key than what this collector returned.
  return readings.get(keyOf(origin)) as Reading<Data> | undefined;
}
