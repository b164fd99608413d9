import { steadyNow } from '../lib/time.ts';
import type { Reading } from '../state/reading.ts';
import type { Job } from './job.ts';

/**
 * Measures how late the jobs of an appliance are, which stretches their intervals and, while the
 * appliance answers, the life of their readings.
 */
export class Lateness {
  #answeredAtSteadyMs = Number.NEGATIVE_INFINITY;
  /** The time that was spent on steps that failed: no reading lives longer for it. */
  #lostMs = 0;

  recordResponse(): void {
    this.#answeredAtSteadyMs = steadyNow();
  }

  get lostMs(): number {
    return this.#lostMs;
  }

  recordLoss(ms: number): void {
    this.#lostMs += ms;
  }

  /**
   * Returns the age up to which a reading is shown, the longest of: `max_stale`; while the appliance
   * answers, also the life that its job gave it when it came, and gives it now; and if its states are
   * known without it, two rounds over the farms.
   */
  maxAgeMs(
    { maxStaleMs, lifeMs }: Pick<Reading, 'maxStaleMs' | 'lifeMs'>,
    job: Job | undefined,
    { hasAnswered, areStatesKnown }: { readonly hasAnswered: boolean; readonly areStatesKnown: () => boolean },
  ): number {
    if (!job || !hasAnswered) return maxStaleMs;
    const ageMs = Math.max(maxStaleMs, lifeMs, this.lifeMs(job));
    // The farm that waits longest must not blink; its next reading may take as long again.
    const stretchedMs = 2 * this.roundMs(job);
    return stretchedMs > ageMs && areStatesKnown() ? stretchedMs : ageMs;
  }

  /**
   * Returns the time of a round, in which each farm is read once: the wait of the farm that has waited
   * longest, without time lost on failures. It is 0 for a job that does not ask farm by farm.
   */
  roundMs({ readFarms }: Pick<Job, 'readFarms'>): number {
    const [oldest] = readFarms.values();
    return oldest ? Math.max(0, this.#answeredAtSteadyMs - oldest.atSteadyMs - (this.#lostMs - oldest.lostMs)) : 0;
  }

  /**
   * Returns how long a reading stays while the appliance answers: `max_stale`, or two intervals as
   * they are stretched, so that late runs do not make it blink. Time that was lost on failures, or on
   * a call without an answer so far, stretches nothing.
   */
  lifeMs({ intervalMs, maxStaleMs, late, nextRunSteadyMs, lostBeforeMs }: Job): number {
    const waitedMs = this.#answeredAtSteadyMs - nextRunSteadyMs - (this.#lostMs - lostBeforeMs);
    const lateMs = Math.max(late.ms - late.lostMs, waitedMs, 0);
    return lateMs > 0 ? Math.max(maxStaleMs, 2 * (intervalMs + lateMs)) : maxStaleMs;
  }
}

/** Returns the measured time between two runs, in whole intervals. */
export function measuredIntervalMs({ intervalMs, late, nextRunSteadyMs }: Job): number {
  const lateMs = Math.max(late.ms, steadyNow() - nextRunSteadyMs);
  return Math.round((intervalMs + lateMs) / intervalMs) * intervalMs;
}
