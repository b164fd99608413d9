import { type Facts, isFarmCollector } from '../collectors/collector.ts';
import { steadyNow } from '../lib/time.ts';
import type { Cron } from './schedule.ts';
import type { SkipReason } from './counters.ts';
import type { Job } from './job.ts';

export interface AdmissionParts {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly facts: () => Facts;
  /** False while the breaker would refuse the first call of a run. */
  readonly wouldAdmit: () => boolean;
  /**
   * Runs the collector that reads the activation; called when it is not known whether the appliance
   * is licensed.
   */
  readonly readActivation: () => void;
  readonly cron: Cron;
  /** See lib/time.ts. */
  readonly age: () => number;
}

/** The collector that finds out whether the appliance is licensed. */
const activation = 'activation';
/** The schedule of the activation while the appliance is deactivated: once a minute. */
const whileUnlicensed = '0 * * * * *';
const betweenDoubtsMs = 60_000;

/**
 * Decides which collectors may run. While an appliance refuses everything without a licence,
 * only its activation is read, to find out when that is over.
 */
export class Admission {
  readonly #parts: AdmissionParts;
  #doubtedAtMs = Number.NEGATIVE_INFINITY;
  #unsubscribe = (): void => undefined;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  start(): void {
    const { cron, facts, readActivation } = this.#parts;
    this.#unsubscribe = cron.subscribe(whileUnlicensed, () => {
      if (facts().licensed === false) readActivation();
    });
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Returns why a job need not run now; undefined if it may. */
  reasonToSkip(job: Job): SkipReason | undefined {
    const { facts, wouldAdmit, age } = this.#parts;
    if (job.collector.makesNoCalls) return facts().farms ? undefined : 'farms_unknown';
    if (job.retryAtMs !== undefined && age() < job.retryAtMs) return 'unsupported';
    if (this.isUnlicensed(job)) return 'unlicensed';
    if (!wouldAdmit()) return 'breaker_open';
    if (isFarmCollector(job.collector) && !facts().farms) return 'farms_unknown';
    return undefined;
  }

  /** Returns true if the appliance would refuse the calls of a job without a licence. */
  isUnlicensed({ collector }: Job): boolean {
    const { facts, jobs } = this.#parts;
    return facts().licensed === false && collector.name !== activation && jobs.has(activation);
  }

  /**
   * Reads the activation after a 402: it says whether everything is refused, or one module alone
   * (docs/api.md §8, 18).
   */
  doubtLicence(): void {
    const { jobs, readActivation } = this.#parts;
    if (jobs.get(activation)?.running || steadyNow() - this.#doubtedAtMs < betweenDoubtsMs) return;
    this.#doubtedAtMs = steadyNow();
    readActivation();
  }
}
