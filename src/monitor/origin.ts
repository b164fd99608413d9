/** Where a reading comes from: a collector, and the farm where it has a reading for each. */
export interface Origin {
  readonly collector: string;
  readonly farm?: string;
}

/** One text for an origin; farm names have no newline. */
export function keyOf({ collector, farm }: Origin): string {
  return farm === undefined ? collector : `${collector}\n${farm}`;
}
