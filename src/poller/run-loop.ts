import type { Area } from '../appliance/api/table.ts';
import { type Collector, type Facts, isFarmCollector } from '../collectors/collector.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { Admission } from './admission.ts';
import type { Caller } from './caller.ts';
import { type SkipReason, skipReasons } from './counters.ts';
import { type Cron, Schedule, type Timing } from './schedule.ts';
import type { IntervalBudget } from './interval-budget.ts';
import type { Job, Pace } from './job.ts';
import { Refresh } from './refresh.ts';
import { type Outcome, Runner, type StandingContext, type StepFinished } from './runner.ts';

/** A run of a collector that ended. */
export interface RunFinished {
  readonly job: Job;
  readonly outcome: Exclude<Outcome, 'closing'>;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** The cost for the appliance. */
  readonly busySeconds: number;
}

/** Receives what happens in the loop. */
export interface RunListener {
  stepFinished(step: StepFinished): void;
  runFinished(run: RunFinished): void;
  skipped(job: Job, reason: SkipReason): void;
  /** Called after a run, or a skipped one, when all of its consequences are known. */
  ended(): void;
}

export interface RunLoopParts {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly caller: Caller;
  readonly listener: RunListener;
  readonly budget: IntervalBudget;
  readonly timing: Timing;
  readonly facts: () => Facts;
  readonly context: StandingContext;
  readonly cron: Cron;
  readonly jitterRatio: number;
  readonly random: () => number;
  /** See lib/time.ts. */
  readonly age: () => number;
}

/** Reasons for which a collector does not run until something else has changed. */
const lastingReasons = ['breaker_open', 'unlicensed', 'farms_unknown'] as const satisfies readonly SkipReason[];
/** A route that an edition lacks stays missing, but a 404 may also have been a bad moment. */
const retryMissingAfterMs = 3_600_000;

/**
 * Runs each collector of an appliance when it is due and admitted, and notifies its listener of the
 * result.
 */
export class RunLoop {
  readonly #parts: RunLoopParts;
  readonly #closing = new AbortController();
  readonly #admission: Admission;
  readonly #runner: Runner;
  readonly #refresh: Refresh;
  readonly #schedule: Schedule;

  constructor(parts: RunLoopParts) {
    const { jobs, caller } = parts;
    this.#parts = parts;
    this.#admission = new Admission({
      ...parts,
      wouldAdmit: () => caller.wouldAdmit,
      readActivation: () => void this.run('activation', 'at_once'),
    });
    this.#runner = new Runner({
      ...parts,
      closing: this.#closing.signal,
      reasonToStop: (job) => (this.#admission.isUnlicensed(job) ? 'unlicensed' : undefined),
      onStep: (step) => this.#stepFinished(step),
      onRoundCost: ({ collector }, busySeconds) => parts.budget.expects(collector.name, busySeconds),
    });
    this.#refresh = new Refresh({
      jobs,
      run: ({ collector }) => this.run(collector.name, 'at_once'),
      runFarm: (job, farm) => this.#runFarm(job, farm),
    });
    this.#schedule = new Schedule({
      ...parts,
      onStretched: (job) => this.#skip(job, 'stretched'),
      run: (collector, pace) => void this.run(collector, pace),
    });
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Runs every collector once, then by its schedule. */
  start(): void {
    this.#schedule.start(this.#parts.jobs.values());
    this.#admission.start();
    void this.#firstRuns();
  }

  /** Runs a collector if it is admitted; resolves when the run is over, whatever its outcome. */
  run(collector: string, pace: Pace): Promise<void> {
    const job = this.#parts.jobs.get(collector);
    if (!job || this.isClosed) return Promise.resolve();
    const reason = job.running ? 'overlap' : this.#admission.reasonToSkip(job);
    if (reason) {
      this.#skip(job, reason);
      this.#parts.listener.ended();
      return job.running ?? Promise.resolve();
    }
    job.running = this.#attempt(job, pace).finally(() => {
      job.running = undefined;
      if (!this.isClosed) this.#parts.listener.ended();
    });
    return job.running;
  }

  /**
   * Runs at once the collectors that missed a run, and need not wait for their schedule as well.
   */
  runMissed(): void {
    for (const [collector, { missed, running }] of this.#parts.jobs)
      if (missed && !running) void this.run(collector, 'at_once');
  }

  /** Runs at once the collectors that waited for the licence. */
  runLicensed(): void {
    for (const [name, { collector }] of this.#parts.jobs)
      if (name !== 'activation' && !collector.makesNoCalls) void this.run(name, 'at_once');
  }

  /** Reads at once what shows an area of the API, of one farm if it is named. */
  changed(area: Area, farm: string | undefined): Promise<void> {
    return this.#refresh.area(area, farm);
  }

  /**
   * Reads at once the backends of a farm whose state changed: until their next run they would show
   * what was before.
   */
  farmChanged(farm: string): void {
    void this.#refresh.backendsOf(farm);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#schedule.close();
    this.#admission.close();
    await Promise.allSettled([...this.#parts.jobs.values()].flatMap(({ running }) => running ?? []));
  }

  /**
   * Runs the collectors that ask farm by farm once the first list of farms is there, and those that
   * make no calls after all others; the call queue orders the rest.
   */
  async #firstRuns(): Promise<void> {
    const all = [...this.#parts.jobs.values()].map(({ collector }) => collector);
    const calling = all.filter(({ makesNoCalls }) => !makesNoCalls);
    const whole = this.#startAll(calling.filter((collector) => !isFarmCollector(collector)));
    await Promise.all(['farms', 'summary'].flatMap((name) => whole.get(name) ?? []));
    const byFarm = this.#startAll(calling.filter((collector) => isFarmCollector(collector)));
    await Promise.all([...whole.values(), ...byFarm.values()]);
    this.#startAll(all.filter(({ makesNoCalls }) => makesNoCalls));
  }

  /** Runs collectors at once; returns their runs by name. */
  #startAll(collectors: readonly Collector[]): ReadonlyMap<string, Promise<void>> {
    return new Map(collectors.map(({ name }) => [name, this.run(name, 'at_once')]));
  }

  async #attempt(job: Job, pace: Pace): Promise<void> {
    const { listener, age, context } = this.#parts;
    const startedAtMs = context.now();
    const current = { sinceMs: steadyNow(), lostMs: 0 };
    Object.assign(job, { startedAtMs: age(), current, spentSeconds: 0 });
    const outcome = await this.#runner.run(job, pace);
    const durationMs = steadyNow() - current.sinceMs;
    job.hadFirstRun = true;
    job.current = undefined;
    job.lastRun = { tookMs: durationMs, lostMs: current.lostMs };
    job.missed = outcome === 'failed' || outcome === 'breaker_open';
    if (outcome === 'closing') return;
    if (isOneOf(skipReasons, outcome)) {
      this.#skip(job, outcome);
    } else {
      job.blocked = undefined;
      job.retryAtMs = outcome === 'unsupported_route' ? age() + retryMissingAfterMs : undefined;
    }
    listener.runFinished({ job, outcome, startedAtMs, durationMs, busySeconds: job.spentSeconds });
  }

  async #runFarm(job: Job, farm: string): Promise<void> {
    const { collector } = job;
    if (!isFarmCollector(collector) || this.#admission.reasonToSkip(job) || this.isClosed) return;
    await this.#runner.farm(job, collector, farm);
    this.#parts.listener.ended();
  }

  #skip(job: Job, reason: SkipReason): void {
    job.hadFirstRun = true;
    if (reason === 'breaker_open') job.missed = true;
    if (isOneOf(lastingReasons, reason))
      job.blocked = { reason, sinceMs: job.blocked?.sinceMs ?? this.#parts.context.now() };
    this.#parts.listener.skipped(job, reason);
  }

  #stepFinished(step: StepFinished): void {
    this.#parts.listener.stepFinished(step);
    if (step.outcome === 'failed' && step.reason === 'unlicensed') this.#admission.doubtLicence();
  }
}
