import type { ObjectState } from '../collectors/collector.ts';

/** The origin of a reading: a collector, and the farm if it has a reading for each farm. */
export interface Origin {
  readonly collector: string;
  readonly farm?: string | undefined;
}

/** Returns one text for an origin; farm names have no newline. */
export function keyOf({ collector, farm }: Origin): string {
  return farm === undefined ? collector : `${collector}\n${farm}`;
}

/** A moment in Unix milliseconds, and on the clock of ages (lib/time.ts). */
export interface Moment {
  readonly atMs: number;
  readonly ageMs: number;
}

/** Tells when an object was seen to change to its state; undefined if it never was. */
export type Since = (object: Omit<ObjectState, 'state'>) => Moment | undefined;

/** The newest data of a collector, or of a collector and a farm. */
export interface Reading<Data = unknown> extends Origin {
  readonly data: Data;
  /** When it was asked for, on the clock of ages. */
  readonly takenAtMs: number;
  /** False where a value or a row of its replies could not be read. */
  readonly isWhole: boolean;
  /** When the states in it began, as far as that was seen. */
  readonly since: Since | undefined;
}
