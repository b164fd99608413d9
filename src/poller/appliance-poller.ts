import type { Area } from '../appliance/api/table.ts';
import { createBreaker } from '../appliance/breaker.ts';
import type { Counters } from './counters.ts';
import { createJob, type Job } from './job.ts';
import { type AppliancePollerParts, type PollerState, stateFrom } from './poller-parts.ts';
import { RunLoop } from './run-loop.ts';
import { RunResults } from './run-results.ts';
import type { ApplianceStatus } from './status.ts';

/** Polls one appliance: its loop of runs, and what the runs result in. */
export class AppliancePoller {
  readonly name: string;
  readonly counters: Counters;
  readonly #jobs: ReadonlyMap<string, Job>;
  readonly #state: PollerState;
  readonly #results: RunResults;
  readonly #loop: RunLoop;

  constructor(parts: AppliancePollerParts) {
    const { name, counters, collectors, polling, cron, now, random } = parts;
    this.name = name;
    this.counters = counters;
    const jobs = collectors.map((each, priority) => {
      const intervalMs = cron.intervalMs(each.schedule);
      return createJob(each, { appliance: name, priority, intervalMs, jitterRatio: polling.jitterRatio });
    });
    this.#jobs = new Map(jobs.map((job) => [job.collector.name, job]));
    this.#state = stateFrom(parts.state, this.#jobs, now);
    const breaker = createBreaker({ now: this.#state.age, random });
    const shared = { ...parts, jobs: this.#jobs, state: this.#state, breaker };
    this.#results = new RunResults(shared);
    this.#loop = new RunLoop(shared, this.#results);
  }

  /** Returns true after every enabled collector ran or was skipped. */
  get hadFirstRuns(): boolean {
    return [...this.#jobs.values()].every(({ hadFirstRun }) => hadFirstRun);
  }

  /** Returns the state for the poller that replaces this one, after this one is closed. */
  get state(): PollerState {
    return { ...this.#state, statistics: this.#results.statistics, opensAtMs: this.#loop.opensAtMs };
  }

  /** Shows the counters, before anything was read. */
  publish(): void {
    this.#results.ended();
  }

  /** Runs every collector once, then by its schedule. */
  start(): void {
    this.#loop.start();
  }

  /**
   * Runs a collector now, whatever its schedule; resolves when the run is over, whatever its
   * outcome.
   */
  run(collector: string): Promise<void> {
    return this.#loop.run(collector, 'at_once');
  }

  /**
   * Reads at once what shows an area of the API that was changed, of one farm if it is named. A
   * reading under way may be older than the change, and is followed by another.
   */
  changed(area: Area, farm: string | undefined): Promise<void> {
    return this.#loop.changed(area, farm);
  }

  /** Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. */
  expire(): void {
    this.#results.expire();
  }

  describe(): ApplianceStatus {
    return this.#results.describe();
  }

  close(): Promise<void> {
    return this.#loop.close();
  }
}
