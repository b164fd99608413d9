import type { ListedFarm } from '../collectors/ask-farms.ts';

/** The time of a farm by what it was, in milliseconds; the rest of a period is unknown. */
export interface FarmTime {
  /** The length of the period, an hour or a day, and its beginning, as Unix time. */
  readonly spanMs: number;
  readonly fromMs: number;
  /** It served its clients, with trouble or without. */
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
}

export interface TimedFarm extends FarmTime {
  readonly farm: string;
}

/** The periods that are kept, with how many of each. */
export const keptPeriods = [
  { spanMs: 3_600_000, count: 48 },
  { spanMs: 86_400_000, count: 31 },
] as const;

/** As many farms as a list has; an appliance may name others each time. */
export const maxTimedFarms = 2_500;
/** A farm can be in two hours and in two days between two writes. */
const maxTaken = 4 * maxTimedFarms;

const words = ['up', 'down', 'maintenance'] as const;
type Word = (typeof words)[number];

/**
 * Adds up how long the farms of an appliance were up and down. Time counts between two readings that
 * both are there, as what the first of them says: what nobody has read is unknown.
 */
export class FarmTimes {
  #last: { readonly atMs: number; readonly wordOf: ReadonlyMap<string, Word | undefined> } | undefined;
  #times = new Map<string, { -readonly [Key in keyof TimedFarm]: TimedFarm[Key] }>();

  /** Takes a list of farms; one that came longer ago than `maxGapMs` says nothing of the time since. */
  add(farms: readonly ListedFarm[], atMs: number, maxGapMs: number): void {
    const last = this.#last;
    this.#last = { atMs, wordOf: new Map(farms.map((farm) => [farm.name, wordOf(farm)])) };
    if (!last || atMs <= last.atMs || atMs - last.atMs > maxGapMs) return;
    for (const { name } of farms) {
      const word = last.wordOf.get(name);
      if (word) for (const { spanMs } of keptPeriods) this.#count(name, word, spanMs, last.atMs, atMs);
    }
  }

  /** Knows nothing of the time until the next list: the appliance does not answer. */
  interrupt(): void {
    this.#last = undefined;
  }

  /** Returns what was added since the last time that it was taken. */
  take(): readonly TimedFarm[] {
    const times = [...this.#times.values()];
    this.#times = new Map();
    return times;
  }

  /** Returns what was not taken yet of a farm. */
  of(farm: string): readonly FarmTime[] {
    return [...this.#times.values()].filter((each) => each.farm === farm);
  }

  #count(farm: string, word: Word, spanMs: number, fromMs: number, untilMs: number): void {
    for (let atMs = fromMs; atMs < untilMs; ) {
      const beginMs = Math.floor(atMs / spanMs) * spanMs;
      const endMs = Math.min(untilMs, beginMs + spanMs);
      const key = `${spanMs} ${beginMs} ${farm}`;
      const known = this.#times.get(key);
      const time = known ?? { farm, spanMs, fromMs: beginMs, up: 0, down: 0, maintenance: 0 };
      time[word] += endMs - atMs;
      if (known || this.#times.size < maxTaken) this.#times.set(key, time);
      atMs = endMs;
    }
  }
}

function wordOf({ state, isSilent }: ListedFarm): Word | undefined {
  if (isSilent) return 'down';
  if (['up', 'problem', 'needed_restart'].includes(state)) return 'up';
  if (state === 'maintenance') return 'maintenance';
  return state === 'down' || state === 'critical' ? 'down' : undefined;
}

/** Adds what is written and what is not yet; the oldest first. */
export function sumOf(times: readonly FarmTime[]): readonly FarmTime[] {
  const sums = new Map<string, { -readonly [Key in keyof FarmTime]: FarmTime[Key] }>();
  for (const time of times) {
    const key = `${time.spanMs} ${time.fromMs}`;
    const sum = sums.get(key);
    if (!sum) sums.set(key, { ...time });
    else for (const word of words) sum[word] += time[word];
  }
  return [...sums.values()].toSorted((one, other) => one.fromMs - other.fromMs);
}
