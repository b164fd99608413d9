import type { Farm } from '../appliance/farm.ts';

/** The milliseconds of a period that a farm was up, down and in maintenance; the rest is unknown. */
export interface FarmTime {
  /** The length of the period, an hour or a day. */
  readonly spanMs: number;
  readonly fromMs: number;
  /** It served its clients, perhaps with problems. */
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
}

export interface TimedFarm extends FarmTime {
  readonly farm: string;
}

/** The lengths of periods, and how many of each are stored. */
export const storedPeriods = [
  { spanMs: 3_600_000, count: 48 },
  { spanMs: 86_400_000, count: 31 },
] as const;

/** The most farms of a list; an appliance may list different ones each time. */
export const maxTimedFarms = 2_500;
/** A farm can be in two hours and in two days between two writes. */
const maxTaken = 4 * maxTimedFarms;

const servingStates = ['up', 'down', 'maintenance'] as const;
type ServingState = (typeof servingStates)[number];

/**
 * Adds up how long the farms of an appliance were up and down. The time between two readings counts
 * with the state of the first one.
 */
export class FarmTimes {
  #last: { readonly atMs: number; readonly states: ReadonlyMap<string, ServingState | undefined> } | undefined;
  #times = new Map<string, { -readonly [Key in keyof TimedFarm]: TimedFarm[Key] }>();

  /** Adds a list of farms. The time since the last one is unknown if it is more than `maxGapMs`. */
  add(farms: readonly Farm[], atMs: number, maxGapMs: number): void {
    const last = this.#last;
    this.#last = { atMs, states: new Map(farms.map((farm) => [farm.name, servingStateOf(farm)])) };
    if (!last || atMs <= last.atMs || atMs - last.atMs > maxGapMs) return;
    for (const { name } of farms) {
      const state = last.states.get(name);
      if (state) for (const { spanMs } of storedPeriods) this.#count(name, state, spanMs, last.atMs, atMs);
    }
  }

  /** Makes the time until the next list unknown, because the appliance does not answer. */
  interrupt(): void {
    this.#last = undefined;
  }

  /** Removes and returns the sums since the last call. */
  take(): readonly TimedFarm[] {
    const times = [...this.#times.values()];
    this.#times = new Map();
    return times;
  }

  /** Returns the sums of a farm that were not taken yet. */
  of(farm: string): readonly FarmTime[] {
    return [...this.#times.values()].filter((each) => each.farm === farm);
  }

  #count(farm: string, state: ServingState, spanMs: number, fromMs: number, untilMs: number): void {
    for (let atMs = fromMs; atMs < untilMs; ) {
      const beginMs = Math.floor(atMs / spanMs) * spanMs;
      const endMs = Math.min(untilMs, beginMs + spanMs);
      const key = `${spanMs} ${beginMs} ${farm}`;
      const known = this.#times.get(key);
      const time = known ?? { farm, spanMs, fromMs: beginMs, up: 0, down: 0, maintenance: 0 };
      time[state] += endMs - atMs;
      if (known || this.#times.size < maxTaken) this.#times.set(key, time);
      atMs = endMs;
    }
  }
}

function servingStateOf({ state, isSilent }: Farm): ServingState | undefined {
  if (isSilent) return 'down';
  if (['up', 'problem', 'needed_restart'].includes(state)) return 'up';
  if (state === 'maintenance') return 'maintenance';
  return state === 'down' || state === 'critical' ? 'down' : undefined;
}

/** Merges sums of the same period, the oldest first. */
export function mergeTimes(times: readonly FarmTime[]): readonly FarmTime[] {
  const sums = new Map<string, { -readonly [Key in keyof FarmTime]: FarmTime[Key] }>();
  for (const time of times) {
    const key = `${time.spanMs} ${time.fromMs}`;
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...time });
    else for (const state of servingStates) sum[state] += time[state];
  }
  return [...sums.values()].toSorted((one, other) => one.fromMs - other.fromMs);
}
