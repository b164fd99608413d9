import type { Farm } from '../appliance/farm.ts';
import type { FailureReason } from '../appliance/errors.ts';
import { type Collector, type PerFarmCollector, isPerFarmCollector } from '../collectors/collector.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { maxDelayMs } from '../lib/cron.ts';
import { steadyNow } from '../lib/time.ts';
import type { StateDelta } from '../state/appliance-state.ts';
import type { Priority } from './call-queue.ts';
import type { SkipReason } from '../state/status.ts';

export interface ScheduledCollector {
  readonly collector: Collector;
  readonly schedule: string;
  readonly maxStaleMs: number;
}

/** A collector at work for one appliance. Only the functions of this file change it, and its run. */
export type Job = Readonly<JobState>;

/** The state with which a job continues after a reload. */
export type InheritedJob = Pick<Job, 'last' | 'retryAtElapsedMs' | 'hadFirstRun' | 'readFarms'>;

interface JobState extends ScheduledCollector {
  /** Position in the list of collectors: at the limit of series, the first ones keep theirs. */
  readonly rank: number;
  readonly intervalMs: number;
  /** Offset of the run in its interval, so that many appliances do not start at once. */
  readonly offsetMs: number;
  /** When its next step is due: the next run, or the next farm of the run under way. */
  due: Due;
  /** When the run after the last or current one is due by the schedule. */
  nextRunSteadyMs: number;
  /** How late the last run began, and the part of it that was lost on calls that failed. */
  late: { readonly ms: number; readonly lostMs: number };
  /** The time lost on failed calls of the appliance, when the last run began. */
  lostBeforeMs: number;
  /** True if the next or current run is made as fast as the budget allows. */
  isUrgent: boolean;
  run: Run | undefined;
  last: LastRun;
  /** True if the breaker or a failure prevented its last run, or a reading of it was evicted. */
  hasMissedRun: boolean;
  /** When a missing route of an optional collector is tried again; undefined if none is missing. */
  retryAtElapsedMs: number | undefined;
  /** Why it does not run at present, and since when. */
  blocked: { readonly reason: SkipReason; readonly sinceMs: number } | undefined;
  /** True after its first run, also if that was skipped. */
  hadFirstRun: boolean;
  /** The cost of its last step for the appliance: of its last run, unless it asks farm by farm. */
  spentSeconds: number;
  runs: number;
  /** When each farm was last read, the longest ago first; used if it asks farm by farm. */
  readonly readFarms: Map<string, ReadFarm>;
}

/** When a farm was last read, and the time lost on failed calls until then. */
export interface ReadFarm {
  readonly atSteadyMs: number;
  readonly lostMs: number;
}

/** The last runs of a collector; what never happened is undefined. */
export interface LastRun {
  readonly ok?: boolean;
  readonly durationMs?: number;
  readonly lastSuccessMs?: number;
  readonly lastAttemptMs?: number;
}

export interface Due {
  readonly steadyMs: number;
  /** The same by the system clock, which goes on while a machine sleeps. */
  readonly unixMs?: number;
}

export type Run = Readonly<RunState>;

interface RunState {
  readonly startedAtMs: number;
  readonly startedAtSteadyMs: number;
  readonly next: Due;
  /** The farms that it is about; undefined for all. */
  readonly onlyFarms: ReadonlySet<string> | undefined;
  readonly over: PromiseWithResolvers<void>;
  /** Undefined before the farms are known, and if it does not ask farm by farm. */
  byFarm: ByFarm | undefined;
  /** True if a change has made out of date what it read at its beginning: it begins again. */
  isOutdated: boolean;
}

/** The part of a run that asks farm by farm. */
export type ByFarm = Readonly<ByFarmState>;

interface ByFarmState extends FarmReader {
  readonly farms: readonly Farm[];
  /** How many of them, the first ones, are read at the cost of the urgent budget. */
  readonly urgentCount: number;
  /** The index of the first of them that is neither read nor being read. */
  nextIndex: number;
  worst: RunOutcome;
}

/** Reads farms one by one. */
export interface FarmReader {
  readonly collectFarm: Awaited<ReturnType<PerFarmCollector['begin']>>;
  /** When it asked for what concerns all farms; undefined if it did not. */
  readonly askedAtElapsedMs: number | undefined;
}

/**
 * The result of a run. `closing`: the poller closes; `missing_route`: the appliance has no such
 * route; a skip reason: no calls were made.
 */
export type RunOutcome = 'ok' | 'failed' | 'missing_route' | 'closing' | SkipReason;

export interface StepOutcome {
  /** Undefined while the run goes on with another step. */
  readonly outcome: RunOutcome | undefined;
  readonly changes?: StateDelta;
  /** Why it failed, if the appliance refused it. */
  readonly reason?: FailureReason;
}

/** The part of an interval over which offsets, and the farms of a run, are spread. */
export const spreadOfInterval = 0.9;
/** A run that costs the appliance no more than this is never held back. */
export const smallSeconds = 0.5;
/** The largest part of the routine budget for a run over the whole appliance. */
export const maxRatioOfRoutine = 0.25;

export function createJob(
  scheduled: ScheduledCollector,
  parts: {
    appliance: string;
    rank: number;
    intervalMs: number;
    jitterRatio: number;
    before?: InheritedJob | undefined;
  },
): Job {
  const { rank, intervalMs, before } = parts;
  const share = hashShare(`${parts.appliance}/${scheduled.collector.name}`) * (spreadOfInterval - parts.jitterRatio);
  return {
    ...scheduled,
    rank,
    intervalMs,
    offsetMs: share * Math.min(intervalMs, maxDelayMs),
    due: { steadyMs: Number.POSITIVE_INFINITY },
    nextRunSteadyMs: Number.POSITIVE_INFINITY,
    late: { ms: 0, lostMs: 0 },
    lostBeforeMs: 0,
    isUrgent: false,
    run: undefined,
    last: before?.last ?? {},
    hasMissedRun: false,
    retryAtElapsedMs: before?.retryAtElapsedMs,
    blocked: undefined,
    hadFirstRun: before?.hadFirstRun ?? false,
    spentSeconds: 0,
    runs: 0,
    readFarms: new Map(before?.readFarms),
  };
}

/** Makes a job due now, as fast as the budget allows. Of several, the lowest `order` goes first. */
export function makeUrgent(job: JobState, order = 0): void {
  // Far less than any interval.
  job.due = { steadyMs: steadyNow() - 1 + order / 1_000 };
  job.isUrgent = true;
}

export function waitUntil(job: JobState, due: Due): void {
  job.due = due;
}

/** Records that a run begins, or would begin: how late it is, and when the next one is due. */
export function planNext(job: JobState, next: Due, nowSteadyMs: number, lostMs: number): void {
  job.late = { ms: Math.max(0, nowSteadyMs - job.nextRunSteadyMs), lostMs: lostMs - job.lostBeforeMs };
  job.lostBeforeMs = lostMs;
  job.nextRunSteadyMs = next.steadyMs;
}

export function beginRun(
  job: JobState,
  run: Pick<Run, 'startedAtMs' | 'startedAtSteadyMs' | 'next' | 'onlyFarms'>,
): Run {
  job.runs += 1;
  job.run = {
    ...run,
    over: Promise.withResolvers<void>(),
    byFarm: undefined,
    isOutdated: false,
  };
  return job.run;
}

/** Records that a job does not run for now; `sinceMs` for a reason that lasts. */
export function skipRun(job: JobState, reason: SkipReason, sinceMs: number | undefined): void {
  job.hadFirstRun = true;
  if (reason === 'breaker_open') job.hasMissedRun = true;
  if (sinceMs !== undefined) job.blocked = { reason, sinceMs: job.blocked?.sinceMs ?? sinceMs };
}

export function recordRun(job: JobState, last: LastRun, retryAtElapsedMs: number | undefined): void {
  job.blocked = undefined;
  job.retryAtElapsedMs = retryAtElapsedMs;
  job.last = last;
}

export function endRun(job: JobState, outcome: RunOutcome, due: Due): void {
  job.run = undefined;
  job.isUrgent = false;
  job.hadFirstRun = true;
  job.hasMissedRun = outcome === 'failed' || outcome === 'breaker_open';
  job.due = due;
}

/** Makes a job wait for its schedule, though it was wanted at once. */
export function waitForSchedule(job: JobState, due: Due): void {
  job.isUrgent = false;
  job.due = due;
}

/** Records that a reading of a job was evicted: it runs as soon as the breaker closes. */
export function recordEviction(job: JobState): void {
  job.hasMissedRun = true;
}

/** Allows another try of the route that the appliance lacked. */
export function retryRoute(job: JobState): void {
  job.retryAtElapsedMs = undefined;
}

/** Records what a step has cost the appliance. */
export function chargeStep(job: JobState, seconds: number): void {
  job.spentSeconds = seconds;
}

/** Records whether what a run read at its beginning is out of date. */
export function markOutdated(run: RunState, isOutdated: boolean): void {
  run.isOutdated = isOutdated;
}

export function setFarms(run: RunState, farms: Omit<ByFarm, 'nextIndex' | 'worst'>): ByFarm {
  run.byFarm = { ...farms, nextIndex: 0, worst: run.byFarm?.worst ?? 'ok' };
  return run.byFarm;
}

/** Returns the next farm of a run, which counts as read from now on. */
export function takeFarm(byFarm: ByFarmState): Farm | undefined {
  const farm = byFarm.farms[byFarm.nextIndex];
  byFarm.nextIndex += 1;
  return farm;
}

export function failFarm(byFarm: ByFarmState): void {
  byFarm.worst = 'failed';
}

/** Records that a farm was read; it is the last in the order of the next run. */
export function recordFarm({ readFarms }: JobState, farm: string, lostMs: number): void {
  readFarms.delete(farm);
  readFarms.set(farm, { atSteadyMs: steadyNow(), lostMs });
}

export function forgetFarms({ readFarms }: JobState, isGone: (farm: string) => boolean): void {
  for (const farm of readFarms.keys()) if (isGone(farm)) readFarms.delete(farm);
}

/** Returns true for the list of farms, which goes before all other jobs. */
export function isFirst({ collector }: Pick<Job, 'collector'>): boolean {
  return collector.name === farmsCollector.name;
}

export function isDue({ steadyMs, unixMs }: Due): boolean {
  return steadyMs <= steadyNow() || (unixMs !== undefined && unixMs <= Date.now());
}

/** Returns the priority of the next step of a job. */
export function priorityOf(job: Job): Priority {
  const { collector, isUrgent, hadFirstRun, run } = job;
  if (isFirst(job)) return 'first';
  if (isUrgent || !hadFirstRun || collector.makesNoCalls) return 'urgent';
  return run?.byFarm && run.byFarm.nextIndex < run.byFarm.urgentCount ? 'urgent' : 'routine';
}

/** Returns true for an urgent step of a run over the farms, unless it is the first run. */
export function isUrgentFarm(job: Job): boolean {
  return job.hadFirstRun && isPerFarmCollector(job.collector) && priorityOf(job) === 'urgent';
}

/**
 * Returns true if the next step of a job waits until the routine budget allows it: a costly one, so
 * that it does not hold up cheap ones. A run that asks farm by farm waits until the next one is due.
 */
export function waitsForRoutineBudget(job: Job): boolean {
  if (priorityOf(job) !== 'routine') return false;
  if (isPerFarmCollector(job.collector)) return job.run?.byFarm !== undefined && !isDue(job.run.next);
  return job.spentSeconds > smallSeconds;
}

/** Returns a stable number from 0 to 1 for a text (FNV-1a). */
function hashShare(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
