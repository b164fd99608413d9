import type { Area } from '../appliance/api/table.ts';
import { isPerFarmCollector } from '../collectors/collector.ts';
import type { Job } from './job.ts';

export interface RefreshParts {
  readonly jobs: ReadonlyMap<string, Job>;
  /** Runs a job, for these farms alone if they are named, unless it runs already. */
  readonly run: (job: Job, onlyFarms?: ReadonlySet<string>) => Promise<void>;
  /** Restarts a run that asks farm by farm; resolves when it is over. */
  readonly beginAgain: (job: Job) => Promise<void>;
  readonly runFarm: (job: Job, farm: string) => Promise<void>;
}

/**
 * Farms whose backends are read at once because their state changed: a queue of thousands would
 * stop the loop for seconds.
 */
const maxRefreshing = 20;

/** Reads at once what a change has made out of date. */
export class Refresh {
  readonly #parts: RefreshParts;
  readonly #repeats = new Repeats();
  #refreshing = 0;
  /** Farms that changed, and were not probed since. */
  readonly #changed = new Set<string>();

  constructor(parts: RefreshParts) {
    this.#parts = parts;
  }

  /** Runs the collectors that read an area of the API, for one farm if it is named. */
  async readArea(area: Area, farm: string | undefined): Promise<void> {
    const touched = [...this.#parts.jobs.values()].filter(({ collector }) => collector.refreshedBy.includes(area));
    const { lists = [], farms = [], probes = [] } = Object.groupBy(touched, kindOf);
    // A farm that was just created is known to the other collectors once it is listed.
    await Promise.all(lists.map((job) => this.#rerun(job)));
    await Promise.all(farms.map((job) => (farm === undefined ? this.#rerunFarms(job) : this.#rerunFarm(job, farm))));
    // A probe compares with what the others have read.
    await Promise.all(probes.map((job) => this.#rerun(job)));
  }

  /** Runs a collector that reads the whole appliance, after a run under way. */
  async rerun(collector: string): Promise<void> {
    const job = this.#parts.jobs.get(collector);
    if (job) await this.#rerun(job);
  }

  /**
   * Reads what a change of a farm's state has made out of date, or all of a farm that is new, and
   * probes it; within the budget. When very many farms change, the next runs read the others.
   */
  async readFarm(farm: string, isNew: boolean): Promise<void> {
    if (this.#refreshing < maxRefreshing) {
      const jobs = [...this.#parts.jobs.values()].filter(
        (job) => isPerFarmCollector(job.collector) && (isNew || job.collector.entity),
      );
      this.#refreshing += 1;
      await Promise.all(jobs.map((job) => this.#rerunFarm(job, farm))).finally(() => {
        this.#refreshing -= 1;
      });
    }
    await this.#probesOf(farm);
  }

  async #probesOf(farm: string): Promise<void> {
    const probing = [...this.#parts.jobs.values()].filter(({ collector }) => collector.makesNoCalls);
    if (probing.length > 0) this.#changed.add(farm);
    await Promise.all(
      probing.map((job) =>
        this.#repeats.after(job.run?.over.promise, `${job.collector.name} of changed farms`, async () => {
          const changed = new Set(this.#changed);
          this.#changed.clear();
          await this.#parts.run(job, changed);
        }),
      ),
    );
  }

  #rerun(job: Job): Promise<void> {
    return this.#repeats.after(job.run?.over.promise, job.collector.name, () => this.#parts.run(job));
  }

  /** Reads all farms at once: a run under way may last as long as its interval. */
  #rerunFarms(job: Job): Promise<void> {
    return job.run ? this.#parts.beginAgain(job) : this.#rerun(job);
  }

  /** Reads beside a run that may be under way: the call queue keeps the calls in order. */
  #rerunFarm(job: Job, farm: string): Promise<void> {
    return this.#repeats.after(undefined, `${job.collector.name} ${farm}`, () => this.#parts.runFarm(job, farm));
  }
}

/** Runs something again after what is under way, once, however often it is requested meanwhile. */
export class Repeats {
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #busy = new Map<string, Promise<void>>();

  /**
   * Resolves when the run is over; an earlier request whose run has not begun yet is the same
   * request.
   */
  after(current: Promise<void> | undefined, key: string, run: () => Promise<void>): Promise<void> {
    const planned = this.#waiting.get(key) ?? this.#inTurn(current, key, run);
    this.#waiting.set(key, planned);
    return planned;
  }

  async #inTurn(current: Promise<void> | undefined, key: string, run: () => Promise<void>): Promise<void> {
    await Promise.all([current, this.#busy.get(key)]);
    this.#waiting.delete(key);
    const over = run();
    this.#busy.set(key, over);
    await over.finally(() => this.#busy.delete(key));
  }
}

function kindOf(job: Job): 'lists' | 'farms' | 'probes' {
  if (job.collector.makesNoCalls) return 'probes';
  return isPerFarmCollector(job.collector) ? 'farms' : 'lists';
}
