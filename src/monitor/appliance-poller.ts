import type { Logger } from 'pino';
import type { ApplianceClient, CallReport } from '../appliance/client.ts';
import type { Area } from '../appliance/endpoints/table.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { createAgeClock } from '../lib/age-clock.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/steady-now.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { createCaller } from './caller.ts';
import type { Cron } from './cron.ts';
import { createRunner, type Pace } from './runner.ts';
import { type Counters, type SkipReason, skipReasons } from './counters.ts';
import { describeAppliance } from './describe.ts';
import { createExposition } from './exposition.ts';
import { createFailureLog } from './failure-log.ts';
import { createIntervalBudget } from './interval-budget.ts';
import { createJob, type Job, type ScheduledCollector } from './job.ts';
import { createKnownFacts } from './known-facts.ts';
import { createCollectorStatistics } from './collector-statistics.ts';
import { storedFrom, type PollerState, newestFrom } from './poller-state.ts';
import { createLicence } from './licence.ts';
import type { Origin } from './origin.ts';
import { createRefresh } from './refresh.ts';
import { createSchedule } from './schedule.ts';
import { createReadingStore } from './reading-store.ts';
import type { Snapshot } from './snapshot.ts';
import { createSnapshots } from './snapshots.ts';
import type { ApplianceStatus, RecentTransition } from './status.ts';
import { createTiming } from './timing.ts';
import { createTransitions, type KnownStates } from './transitions.ts';

export interface AppliancePollerParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly watches: (farm: string) => boolean;
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

/** Polls one appliance. */
export interface AppliancePoller {
  readonly name: string;
  /** Shows the counters, before anything was read. */
  publish(): void;
  /** Runs every collector once, then by its schedule. */
  start(): void;
  /** Runs a collector now, whatever its schedule; resolves when the run is over, whatever its outcome. */
  run(collector: string): Promise<void>;
  /**
   * Something in an area of the API was changed, of one farm where it is named: reads at once what shows it. A reading
   * under way may be older than the change, and is followed by another.
   */
  changed(area: Area, farm: string | undefined): Promise<void>;
  /** Removes what is too old and refreshes `zlb_up`: afterwards the store has what is true now. */
  expire(): void;
  /** True once every enabled collector has had its turn. */
  readonly hadFirstRuns: boolean;
  describe(): ApplianceStatus;
  readonly counters: Counters;
  /** For the poller that takes its place; once this one is closed. */
  readonly state: PollerState;
  close(): Promise<void>;
}

/** Reasons for which a collector does not run until something else has changed. */
const lastingReasons = ['breaker_open', 'unlicensed', 'farms_unknown'] as const satisfies readonly SkipReason[];
/** Farms that wait at once to be read because their state changed: a queue of thousands would stop the loop for seconds. */
const maxRefreshing = 20;
/** A route that an edition lacks stays missing, but a 404 may also have been a bad moment. */
const retryMissingAfterMs = 3_600_000;

export function createAppliancePoller(parts: AppliancePollerParts): AppliancePoller {
  const { name, cron, store, log, now, random, polling, counters, state: before } = parts;
  const closing = new AbortController();
  const age = before?.age ?? createAgeClock(now, steadyNow);
  const states: KnownStates = before?.states ?? new Map();
  const newest = newestFrom(before, parts.collectors);
  const facts = createKnownFacts({
    newest,
    onVersionChanged(from, to) {
      log.info({ from, to }, 'version changed, missing routes are tried again');
      caller.forgetMissingRoutes();
      unsupported.clear();
    },
    onFarmGone(farm) {
      for (const collector of jobs.keys()) {
        readingStore.remove({ collector, farm });
        transitions.forget({ collector, farm });
        failures.forget({ collector, farm });
      }
    },
    // Collectors that waited for the licence need not wait for their schedule as well.
    onLicensedAgain() {
      for (const each of jobs.keys()) if (each !== 'activation') void run(each, 'at_once');
    },
  });
  const jobs = new Map<string, Job>(
    parts.collectors.map((each, index) => [
      each.collector.name,
      createJob(each, {
        appliance: name,
        priority: index,
        intervalMs: cron.intervalMs(each.schedule),
        jitterRatio: polling.jitterRatio,
      }),
    ]),
  );
  const statistics = createCollectorStatistics({
    collectors: [...jobs.keys()],
    counters,
    before: before?.statistics,
    upForMs: () => Math.min(...[...jobs.values()].map((job) => timing.freshForMs(job))),
  });
  const budget = createIntervalBudget(
    [...jobs].map(([collector, { intervalMs }]) => ({ name: collector, intervalMs })),
    polling.maxBusyRatio,
    () => {
      announceIntervals();
      publish();
    },
  );
  const timing = createTiming({ budget, jitterRatio: polling.jitterRatio, steadyNow });
  const stored = storedFrom(before, jobs);
  const evicted = new Map(before?.evicted);
  const failures = createFailureLog(log, now);
  const transitions = createTransitions({
    log,
    known: states,
    onTransition(transition) {
      counters.transitioned(transition.object, transition.to);
      parts.onTransition({ appliance: name, ...transition });
      // Until their next turn its backends would show what was before.
      if (transition.object === 'farm') void refreshFarm(transition.labels.farm);
    },
    now,
  });
  const readingStore = createReadingStore({
    appliance: name,
    stored,
    evicted,
    store,
    maxSeries: parts.maxSeries,
    priority: (collector) => jobs.get(collector)?.priority ?? jobs.size,
    // By the intervals at that moment, and never for an appliance that does not answer.
    isExtended({ collector, takenAtMs, extendedMs }, ageMs) {
      const job = jobs.get(collector);
      const allowedMs = job ? Math.max(extendedMs, timing.freshForMs(job)) : 0;
      return ageMs - takenAtMs < allowedMs && statistics.isUp(ageMs) === true;
    },
    onDropped(reason, series) {
      counters.dropped(reason, series);
      failures.seriesDropped(reason, series);
    },
    onUnknownState: (family, word) => failures.unknownWord(family, word),
  });
  const caller = createCaller({
    connect: parts.connect,
    onCall: (report) => statistics.called(report, age()),
    // A certificate that was not read during an outage need not wait ten minutes more.
    onRecovered() {
      for (const [collector, { missed }] of jobs) if (missed && !running.has(collector)) void run(collector, 'at_once');
    },
    maxConcurrent: polling.maxConcurrentPerAppliance,
    maxBusyRatio: polling.maxBusyRatio,
    opensAtMs: before?.opensAtMs,
    log,
    now: age,
    random,
  });
  const exposition = createExposition({
    appliance: name,
    store,
    statistics,
    counters,
    readingStore,
    breakerState: () => caller.breakerState,
    age,
  });
  const runner = createRunner({
    caller,
    timing,
    failures,
    closing: closing.signal,
    skipReason: ({ collector }) => licence.skipReason(collector.name),
    context: { watches: parts.watches, now, labels: parts.labels },
    facts: () => facts.current,
    age,
    onReading,
    onRoundCost: (job, busySeconds) => budget.expects(job.collector.name, busySeconds),
    onFailure(origin, reason) {
      counters.failed(origin.collector, reason);
      if (reason === 'unlicensed') licence.doubt();
      snapshots.invalidate();
    },
  });
  const running = new Map<string, Promise<void>>();
  const licence = createLicence({
    isLicensed: () => facts.current.licensed,
    canFindOut: jobs.has('activation'),
    isFindingOut: () => running.has('activation'),
    findOut: () => void run('activation', 'at_once'),
    cron,
  });
  const refresh = createRefresh();
  /** Farms that wait for {@link refreshFarm}, or are read by it. */
  let refreshing = 0;
  /** Optional collectors whose route is missing, and the age at which they are tried again. */
  const unsupported = new Map<string, number>();
  const snapshots = createSnapshots({
    name,
    labels: parts.labels,
    jobs,
    isLicensed: () => facts.current.licensed,
    readingStore,
    exposition,
    statistics,
    failures,
    breakerState: () => caller.breakerState,
    isSupported: (collector) => !unsupported.has(collector),
    age,
  });
  const schedule = createSchedule({
    cron,
    budget,
    jitterRatio: polling.jitterRatio,
    random,
    age,
    onStretched: (job) => skip(job, 'stretched'),
    run: (collector, pace) => void run(collector, pace),
  });
  for (const collector of before?.statistics.entries.keys() ?? [])
    if (!jobs.has(collector)) readingStore.clear(collector);
  for (const { collector, farm } of [...stored.values(), ...evicted.values()]) {
    if (farm === undefined || parts.watches(farm)) continue;
    readingStore.remove({ collector, farm });
    transitions.forget({ collector, farm });
  }

  let described: { readonly snapshot: Snapshot; readonly status: ApplianceStatus } | undefined;

  function publish(): void {
    exposition.publish();
    snapshots.invalidate();
  }

  function runEnded(): void {
    publish();
    exposition.refresh();
  }

  /** Runs the collectors that ask farm by farm once the first list of farms is there; the call queue orders the rest. */
  async function firstRuns(): Promise<void> {
    const whole = [...jobs].filter(([, { collector }]) => !isFarmCollector(collector));
    const lists = whole
      .map(([collector]) => ({ collector, over: run(collector, 'at_once') }))
      .filter(({ collector }) => ['farms', 'summary'].includes(collector));
    await Promise.all(lists.map(({ over }) => over));
    for (const [collector, job] of jobs) if (isFarmCollector(job.collector)) void run(collector, 'at_once');
  }

  async function changed(area: Area, farm: string | undefined): Promise<void> {
    const touched = [...jobs.values()].filter(({ collector }) => collector.refreshedBy.includes(area));
    const [ofFarms, whole] = [touched.filter(isOfFarms), touched.filter((job) => !isOfFarms(job))];
    // A farm that was just created is known to the other collectors once it is listed.
    await Promise.all(whole.map(({ collector: { name: collector } }) => again(collector)));
    await Promise.all(ofFarms.map((job) => (farm === undefined ? again(job.collector.name) : runFarm(job, farm))));
  }

  function again(collector: string): Promise<void> {
    return refresh.after(running.get(collector), collector, () => run(collector, 'at_once'));
  }

  /** Reads the states of a farm's backends now, within the budget; when very many farms change, the round reads the others. */
  async function refreshFarm(farm: string | undefined): Promise<void> {
    if (farm === undefined || refreshing >= maxRefreshing) return;
    const withStates = [...jobs.values()].filter((job) => isOfFarms(job) && job.collector.entity !== undefined);
    refreshing += 1;
    await Promise.all(withStates.map((job) => runFarm(job, farm))).finally(() => {
      refreshing -= 1;
    });
  }

  /** Beside a round that may be under way: the call queue keeps the calls in order. */
  function runFarm(job: Job, farm: string): Promise<void> {
    const { collector } = job;
    return refresh.after(undefined, `${collector.name} ${farm}`, async () => {
      if (!isFarmCollector(collector) || reasonToSkip(job) || closing.signal.aborted) return;
      await runner.farm(job, collector, farm);
      runEnded();
    });
  }

  function run(collector: string, pace: Pace): Promise<void> {
    const job = jobs.get(collector);
    if (!job || closing.signal.aborted) return Promise.resolve();
    const current = running.get(collector);
    const reason = current ? 'overlap' : reasonToSkip(job);
    if (reason) {
      skip(job, reason);
      runEnded();
      return current ?? Promise.resolve();
    }
    const attempt = attemptRun(job, pace).finally(() => {
      running.delete(collector);
      if (!closing.signal.aborted) runEnded();
    });
    running.set(collector, attempt);
    return attempt;
  }

  function reasonToSkip(job: Job): SkipReason | undefined {
    const { collector } = job;
    if (age() < (unsupported.get(collector.name) ?? 0)) return 'unsupported';
    const skipReason = licence.skipReason(collector.name);
    if (skipReason) return skipReason;
    if (!caller.wouldAdmit) return 'breaker_open';
    if (isFarmCollector(collector) && !facts.current.farms) return 'farms_unknown';
    return undefined;
  }

  async function attemptRun(job: Job, pace: Pace): Promise<void> {
    const { collector } = job;
    const startedAtMs = now();
    const current = { sinceMs: steadyNow(), lostMs: 0 };
    job.startedAtMs = age();
    job.current = current;
    job.spentSeconds = 0;
    const outcome = isFarmCollector(collector)
      ? await runner.round(job, collector, pace)
      : await runner.once(job, collector, pace);
    job.hadFirstRun = true;
    job.current = undefined;
    job.lastRun = { tookMs: steadyNow() - current.sinceMs, lostMs: current.lostMs };
    job.missed = outcome === 'failed' || outcome === 'breaker_open';
    if (outcome === 'closing') return;
    if (outcome !== 'ok') exposition.withoutReading(job);
    if (isOneOf(skipReasons, outcome)) return skip(job, outcome);
    job.blocked = undefined;
    if (!isFarmCollector(collector)) budget.spent(collector.name, job.spentSeconds);
    if (outcome === 'unsupported_route') {
      unsupported.set(collector.name, age() + retryMissingAfterMs);
      return statistics.unsupported(collector.name);
    }
    unsupported.delete(collector.name);
    statistics.attempted({
      collector: collector.name,
      startedAtMs,
      durationMs: job.lastRun.tookMs,
      ok: outcome === 'ok',
    });
    announceIntervals();
  }

  /** All of them: what one collector costs stretches others as well. */
  function announceIntervals(): void {
    for (const [collector, job] of jobs)
      if (!unsupported.has(collector)) statistics.stretchedTo(collector, timing.effectiveIntervalMs(job));
  }

  function onReading(job: Job, origin: Origin, data: unknown, askedAtMs: number): void {
    if (readingStore.isOvertaken(origin, askedAtMs)) return;
    const { collector } = job;
    const freshForMs = timing.freshForMs(job);
    transitions.compare(origin, [...(collector.entity?.states(data) ?? [])]);
    readingStore.put(origin, {
      write: writeReading(collector.families, data, { compact: parts.compact }),
      data,
      sinceMs: transitions.changesOf(origin),
      takenAtMs: askedAtMs,
      maxStaleMs: job.maxStaleMs,
      extendedMs: freshForMs > job.maxStaleMs ? freshForMs : 0,
    });
    if (!isFarmCollector(collector)) facts.update(collector, data);
    exposition.refresh();
  }

  function skip(job: Job, reason: SkipReason): void {
    job.hadFirstRun = true;
    if (reason === 'breaker_open') job.missed = true;
    if (isOneOf(lastingReasons, reason)) job.blocked = { reason, sinceMs: job.blocked?.sinceMs ?? now() };
    counters.skipped(job.collector.name, reason);
  }

  return {
    name,
    publish: runEnded,
    start() {
      // A reload may close it while it waits for its turn to start.
      if (closing.signal.aborted) return;
      for (const job of jobs.values()) statistics.stretchedTo(job.collector.name, job.intervalMs);
      schedule.start(jobs.values());
      licence.start();
      void firstRuns();
    },
    run: (collector) => run(collector, 'at_once'),
    changed,
    expire: () => exposition.expire(jobs),
    counters,
    get state() {
      return { age, newest, stored, evicted, states, statistics: statistics.state, opensAtMs: caller.opensAtMs };
    },
    get hadFirstRuns() {
      return [...jobs.values()].every(({ hadFirstRun }) => hadFirstRun);
    },
    describe() {
      const snapshot = snapshots.current();
      if (described?.snapshot !== snapshot) described = { snapshot, status: describeAppliance(snapshot) };
      return described.status;
    },
    async close() {
      closing.abort();
      schedule.close();
      licence.close();
      await Promise.allSettled(running.values());
      await caller.close();
    },
  };
}

function isOfFarms({ collector }: Job): boolean {
  return isFarmCollector(collector);
}
