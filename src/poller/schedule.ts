import { nextMatches } from '../lib/cron.ts';
import { remembered } from '../lib/text.ts';
import { steadyNow } from '../lib/time.ts';
import type { IntervalBudget } from './interval-budget.ts';
import { type Job, maxOffsetMs, type Pace, ratioOfInterval, type RunLength } from './job.ts';

/** Ticks by cron expression. One timer serves all subscribers of the same expression. */
export interface Cron {
  /** Calls `tick` at each match until the returned function is called. */
  subscribe(expression: string, tick: () => void): () => void;
  /** Computes {@link intervalOf} once per expression: it takes a millisecond. */
  intervalMs(expression: string): number;
  /**
   * Returns the milliseconds from the last match to the next one: of a schedule with working hours,
   * many in the evening and few in the day.
   */
  gapMs(expression: string): number;
  close(): void;
}

/**
 * The longest wait without a look at the system clock, after which a machine that slept, or a clock
 * that was set forward, is noticed.
 */
const maxWaitMs = 60_000;

/**
 * The ticks of one expression. The next match is computed from the system clock, and waited for by
 * the monotonic one: a clock that is set back stops nothing. A match that was missed, because the
 * machine slept or the loop was busy, ticks once and late.
 */
class Ticker {
  readonly ticks = new Set<() => void>();
  readonly #expression: string;
  #timer: NodeJS.Timeout | undefined;
  #nextMs = 0;
  #dueMs = 0;
  #gapMs: number;

  constructor(expression: string) {
    this.#expression = expression;
    const [first = 0, second = first] = nextMatches(expression, 2);
    this.#gapMs = second - first;
    this.#plan();
  }

  get gapMs(): number {
    return this.#gapMs;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #plan(): void {
    const now = Date.now();
    [this.#nextMs = now] = nextMatches(this.#expression, 1);
    this.#dueMs = steadyNow() + this.#nextMs - now;
    this.#wait();
  }

  #wait(): void {
    const leftMs = Math.max(0, this.#dueMs - steadyNow());
    this.#timer = setTimeout(() => this.#wake(), Math.min(leftMs, maxWaitMs));
  }

  #wake(): void {
    if (steadyNow() < this.#dueMs && Date.now() < this.#nextMs) return this.#wait();
    const lastMs = this.#nextMs;
    this.#plan();
    if (this.#nextMs > lastMs) this.#gapMs = this.#nextMs - lastMs;
    for (const tick of this.ticks) tick();
  }
}

export function createCron(): Cron {
  const tickers = new Map<string, Ticker>();

  function tickerOf(expression: string): Ticker {
    const ticker = tickers.get(expression) ?? new Ticker(expression);
    tickers.set(expression, ticker);
    return ticker;
  }

  return {
    subscribe(expression, tick) {
      const ticker = tickerOf(expression);
      ticker.ticks.add(tick);
      return () => {
        if (!ticker.ticks.delete(tick) || ticker.ticks.size > 0) return;
        ticker.close();
        tickers.delete(expression);
      };
    },
    intervalMs: remembered(intervalOf),
    gapMs: (expression) => tickers.get(expression)?.gapMs ?? intervalOf(expression),
    close() {
      for (const ticker of tickers.values()) ticker.close();
      tickers.clear();
    },
  };
}

/**
 * More than an hour of every few minutes, so that a gap at the change of the hour is always seen.
 */
const checkedMatches = 32;

/** Milliseconds between two matches of an expression: the shortest gap among the next matches. */
export function intervalOf(expression: string): number {
  const times = nextMatches(expression, checkedMatches);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return Math.max(1_000, Math.min(...gaps, 7 * 86_400_000));
}

export interface ScheduleParts {
  readonly cron: Cron;
  readonly budget: Pick<IntervalBudget, 'multiplier'>;
  readonly jitterRatio: number;
  readonly random: () => number;
  /** See lib/time.ts. */
  readonly age: () => number;
  readonly onStretched: (job: Job) => void;
  readonly run: (collector: string, pace: Pace) => void;
}

/** Runs come early and late by their jitter and by the calls before them. */
const tolerance = 0.5;

/**
 * Turns ticks into runs: each job at its own offset in the interval, once in n intervals where the
 * interval budget says so.
 */
export class Schedule {
  readonly #parts: ScheduleParts;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #subscriptions: (() => void)[] = [];

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  start(jobs: Iterable<Job>): void {
    const { cron } = this.#parts;
    for (const job of jobs) this.#subscriptions.push(cron.subscribe(job.schedule, () => this.#onTick(job)));
  }

  close(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #onTick(job: Job): void {
    const { random, jitterRatio } = this.#parts;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#onDue(job);
      },
      job.offsetMs + random() * Math.min(jitterRatio * job.intervalMs, maxOffsetMs),
    );
    this.#timers.add(timer);
  }

  /**
   * Counts from the last run and not in ticks: when the multiplier changes, the next run comes
   * neither at once nor too late.
   */
  #onDue(job: Job): void {
    const { budget, age, onStretched, run } = this.#parts;
    const intervals = (age() - job.startedAtMs) / job.intervalMs;
    // A run that was just made out of schedule serves this tick as well.
    if (intervals < tolerance) return;
    if (intervals < budget.multiplier(job.collector.name) - tolerance) return onStretched(job);
    run(job.collector.name, 'spread');
  }
}

export interface TimingParts {
  readonly budget: Pick<IntervalBudget, 'multiplier'>;
  readonly jitterRatio: number;
  readonly steadyNow: () => number;
  /** Returns when the appliance last answered, on the clock of `steadyNow`. */
  readonly answeredAtMs: () => number;
}

/**
 * The times that follow from a job's schedule, its costs and what the appliance can bear; all of
 * them as of now.
 */
export class Timing {
  readonly #parts: TimingParts;

  constructor(parts: TimingParts) {
    this.#parts = parts;
  }

  /** Returns the milliseconds between runs as they really come. */
  effectiveIntervalMs(job: Job): number {
    return this.#intervalMs(job, this.#parts.steadyNow(), ({ tookMs }) => tookMs);
  }

  /**
   * Returns the milliseconds over which the calls of a round are spread. They do not follow the
   * effective interval: a round that took long once would then be made to take long for ever.
   */
  roundMs(job: Job): number {
    return this.#stretchedMs(job) * (ratioOfInterval - this.#parts.jitterRatio);
  }

  /**
   * Returns how long a reading stays while the appliance answers. An interval stretched beyond
   * `max_stale` must not make it blink: then it stays for two of the intervals that are possible.
   * Failures, and a call that is not answered yet, stretch nothing here, however long they take.
   */
  freshForMs(job: Job): number {
    const neededMs = this.#intervalMs(job, this.#parts.answeredAtMs(), ({ tookMs, lostMs }) => tookMs - lostMs);
    return neededMs > job.intervalMs ? Math.max(job.maxStaleMs, neededMs * 2) : job.maxStaleMs;
  }

  #stretchedMs(job: Job): number {
    return job.intervalMs * this.#parts.budget.multiplier(job.collector.name);
  }

  /**
   * Returns the interval; a run that outlasts it makes the next tick an overlap. `untilMs` ends the
   * run under way.
   */
  #intervalMs(job: Job, untilMs: number, lengthMs: (run: RunLength) => number): number {
    const { current, lastRun } = job;
    const running = current && { tookMs: untilMs - current.sinceMs, lostMs: current.lostMs };
    const longestMs = Math.max(lengthMs(lastRun), running ? lengthMs(running) : 0);
    return Math.max(this.#stretchedMs(job), Math.ceil(longestMs / job.intervalMs) * job.intervalMs);
  }
}
