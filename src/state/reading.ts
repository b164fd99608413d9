import type { Collector, ObjectState } from '../collectors/collector.ts';

/** The origin of a reading: a collector, and the farm if it has a reading for each farm. */
export interface Origin {
  readonly collector: string;
  readonly farm?: string | undefined;
}

/** Returns the key of an origin; farm names have no newline. */
export function readingKey({ collector, farm }: Origin): string {
  return farm === undefined ? collector : `${collector}\n${farm}`;
}

/** A moment in Unix milliseconds, and on the elapsed clock (lib/time.ts). */
export interface Moment {
  readonly atMs: number;
  readonly atElapsedMs: number;
}

/** Returns when an object was seen to change to its state; undefined if it never was. */
export type ChangeTimes = (object: Omit<ObjectState, 'state'>) => Moment | undefined;

/** The newest data of a collector, or of a collector and a farm. */
export interface Reading<Data = unknown> extends Origin {
  readonly data: Data;
  readonly askedAtElapsedMs: number;
  /** The age up to which it is always shown. */
  readonly maxStaleMs: number;
  /** The age up to which it may be shown while the appliance answers; see scheduler/lateness.ts. */
  readonly lifeMs: number;
  /** False where a value or a row of its replies could not be read. */
  readonly isWhole: boolean;
  /** The memory that its data take. */
  readonly bytes: number;
  /** When the states in it began, as far as that was seen. */
  readonly changedAt: ChangeTimes | undefined;
}

/** A reading as a step made it, with its collector. */
export interface NewReading extends Omit<Reading, 'collector' | 'bytes' | 'changedAt'> {
  readonly collector: Collector;
}

/** Returns the reading of a collector, of one farm if it is named; undefined without one. */
export function readingIn<Data>(
  readings: ReadonlyMap<string, Reading>,
  { name: collector }: Collector<Data>,
  farm?: string,
): Reading<Data> | undefined {
  // Only what this collector returned is stored under its name.
  return readings.get(readingKey({ collector, farm })) as Reading<Data> | undefined;
}
