import { steadyNow } from '../lib/time.ts';
import { priorities } from './call-queue.ts';
import { isDue, isUrgentFarm, type Job, priorityOf } from './job.ts';

export interface DueListParts {
  readonly jobs: readonly Job[];
  /** How many steps that make calls may be under way. */
  readonly maxSteps: number;
  /** Returns the time before which no step of a job may be made. */
  readonly notBeforeSteadyMs: (job: Job) => number;
  /** Returns false for a job that must wait for another one. */
  readonly mayStart: (job: Job) => boolean;
  /** Makes the next step of a job, and says in the job when another is due; never rejects. */
  readonly step: (job: Job) => Promise<void>;
}

/**
 * The longest wait without a look at the system clock: then a machine that slept, or a clock set
 * forward, is noticed.
 */
const maxWaitMs = 60_000;

/**
 * The one loop of an appliance: takes the job of the highest priority that is due, makes its next
 * step, and waits for the next one. Under load steps come later, and the job with most of them waits
 * most.
 */
export class DueList {
  readonly #parts: DueListParts;
  readonly #taken = new Map<Job, Promise<void>>();
  /** True if an urgent farm was taken after the last step of routine. */
  #hadUrgentFarm = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: DueListParts) {
    this.#parts = parts;
  }

  /** Makes the steps that are due; called after a job was changed. */
  wake(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    for (let job = this.#next(); job; job = this.#next()) this.#take(job);
    const waitMs = this.#waitMs();
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.wake(), waitMs);
  }

  /** Takes no more jobs; resolves when the steps under way are over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#taken.values());
  }

  #take(job: Job): void {
    if (isUrgentFarm(job)) this.#hadUrgentFarm = true;
    else if (priorityOf(job) === 'routine') this.#hadUrgentFarm = false;
    const over = this.#parts.step(job).then(() => {
      this.#taken.delete(job);
      this.wake();
    });
    this.#taken.set(job, over);
  }

  /** Returns the job to take now, if one is due and the budget allows it. */
  #next(): Job | undefined {
    const nowSteadyMs = steadyNow();
    return this.#waiting()
      .filter((job) => isDue(job.due) && this.#notBeforeSteadyMs(job) <= nowSteadyMs)
      .reduce<Job | undefined>((first, job) => (first && !this.#goesBefore(job, first) ? first : job), undefined);
  }

  /** Returns the time from which a job may be taken; infinity until another step ends. */
  #notBeforeSteadyMs(job: Job): number {
    if (job.collector.makesNoCalls) return 0;
    const calling = [...this.#taken.keys()].filter(({ collector }) => !collector.makesNoCalls);
    return calling.length < this.#parts.maxSteps ? this.#parts.notBeforeSteadyMs(job) : Number.POSITIVE_INFINITY;
  }

  #waiting(): readonly Job[] {
    return this.#parts.jobs.filter((job) => !this.#taken.has(job) && this.#parts.mayStart(job));
  }

  /** Returns the time until the next look; undefined if the end of a step comes first. */
  #waitMs(): number | undefined {
    const firstSteadyMs = Math.min(
      ...this.#waiting().map((job) => Math.max(job.due.steadyMs, this.#notBeforeSteadyMs(job))),
    );
    if (firstSteadyMs === Number.POSITIVE_INFINITY) return undefined;
    const waitMs = firstSteadyMs - steadyNow();
    return Math.ceil(Math.min(Math.max(waitMs, 0), maxWaitMs));
  }

  /** Orders by rank; of two alike, the one that is due first. */
  #goesBefore(one: Job, other: Job): boolean {
    const [rank, otherRank] = [this.#rankOf(one), this.#rankOf(other)];
    return rank === otherRank ? one.due.steadyMs < other.due.steadyMs : rank < otherRank;
  }

  /**
   * Returns the rank of a job, the lowest for the first: that of its priority. But urgent farms come
   * after all else that is urgent, and take turns with routine, so that hundreds of them hold up no
   * call for the whole appliance.
   */
  #rankOf(job: Job): number {
    const rank = priorities.indexOf(priorityOf(job));
    if (!isUrgentFarm(job)) return rank;
    return this.#hadUrgentFarm ? priorities.length : rank + 0.5;
  }
}
