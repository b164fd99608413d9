import type { Logger } from 'pino';
import type { ApplianceClient, CallReport } from '../appliance/client.ts';
import type { Area } from '../appliance/api/table.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { VipSettings } from '../collectors/collector.ts';
import { Caller } from './caller.ts';
import type { Counters } from './counters.ts';
import type { Cron } from './schedule.ts';
import { describeAppliance } from './describe.ts';
import { createJobs, type Job, type ScheduledCollector } from './job.ts';
import { type PollerState, stateFrom } from './poller-state.ts';
import { RunLoop } from './run-loop.ts';
import { RunResults } from './run-results.ts';
import type { Snapshot } from './snapshot.ts';
import type { ApplianceStatus, RecentTransition } from './status.ts';
import type { Transition } from './transitions.ts';

export interface AppliancePollerParts {
  readonly name: string;
  /** The origin of its address. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly watches: (farm: string) => boolean;
  readonly vip: VipSettings;
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  /** Enabled collectors in order of priority. */
  readonly collectors: readonly ScheduledCollector[];
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly polling: {
    readonly timeoutMs: number;
    readonly maxConcurrentPerAppliance: number;
    readonly maxBusyRatio: number;
    readonly jitterRatio: number;
  };
  readonly maxSeries: number;
  readonly counters: Counters;
  readonly onTransition: (transition: RecentTransition) => void;
  /** State of the poller that this one replaces, if it polled the same appliance. */
  readonly state?: PollerState | undefined;
  readonly store: MetricsStore;
  readonly cron: Cron;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** Polls one appliance: puts together its loop of runs, its calls, and what the runs result in. */
export class AppliancePoller {
  readonly name: string;
  readonly counters: Counters;
  readonly #parts: AppliancePollerParts;
  readonly #state: PollerState;
  readonly #jobs: ReadonlyMap<string, Job>;
  readonly #results: RunResults;
  readonly #caller: Caller;
  readonly #loop: RunLoop;
  #described: { readonly snapshot: Snapshot; readonly status: ApplianceStatus } | undefined;

  constructor(parts: AppliancePollerParts) {
    const { name, labels, collectors, watches, vip, polling, cron, now } = parts;
    this.name = name;
    this.counters = parts.counters;
    this.#parts = parts;
    this.#jobs = createJobs(collectors, {
      appliance: name,
      jitterRatio: polling.jitterRatio,
      intervalMs: (schedule) => cron.intervalMs(schedule),
    });
    this.#state = stateFrom(parts.state, this.#jobs, now);
    const { age, opensAtMs } = this.#state;
    this.#results = new RunResults({
      ...parts,
      jobs: this.#jobs,
      state: this.#state,
      breakerState: () => this.#caller.breakerState,
      onTransition: (transition) => this.#transitioned(transition),
      onVersionChanged: () => this.#caller.forgetMissingRoutes(),
      onLicensedAgain: () => this.#loop.runLicensed(),
    });
    this.#caller = new Caller({
      ...parts,
      onCall: (report) => this.#results.called(report),
      onRecovered: () => this.#loop.runMissed(),
      maxConcurrent: polling.maxConcurrentPerAppliance,
      maxBusyRatio: polling.maxBusyRatio,
      opensAtMs,
      now: age,
    });
    this.#loop = new RunLoop({
      ...parts,
      jobs: this.#jobs,
      caller: this.#caller,
      listener: this.#results,
      budget: this.#results.budget,
      timing: this.#results.timing,
      facts: () => this.#results.facts,
      context: { watches, now, labels, vip, newest: (collector, farm) => this.#results.newest(collector, farm) },
      jitterRatio: polling.jitterRatio,
      age,
    });
  }

  /** Returns true after every enabled collector ran or was skipped. */
  get hadFirstRuns(): boolean {
    return [...this.#jobs.values()].every(({ hadFirstRun }) => hadFirstRun);
  }

  /** Returns the state for the poller that replaces this one, after this one is closed. */
  get state(): PollerState {
    return { ...this.#state, statistics: this.#results.statistics, opensAtMs: this.#caller.opensAtMs };
  }

  /** Shows the counters, before anything was read. */
  publish(): void {
    this.#results.ended();
  }

  /** Runs every collector once, then by its schedule. */
  start(): void {
    // A reload may close it while it waits for its start.
    if (this.#loop.isClosed) return;
    this.#results.started();
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
    const snapshot = this.#results.snapshot();
    if (this.#described?.snapshot !== snapshot)
      this.#described = { snapshot, status: describeAppliance(snapshot, this.#parts.url) };
    return this.#described.status;
  }

  async close(): Promise<void> {
    await this.#loop.close();
    await this.#caller.close();
  }

  #transitioned(transition: Transition): void {
    this.#parts.onTransition({ appliance: this.name, ...transition });
    const { farm } = transition.labels;
    if (transition.object === 'farm' && farm !== undefined) this.#loop.farmChanged(farm);
  }
}
