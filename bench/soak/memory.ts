import type { Finding } from './finding.ts';
import type { Stretch } from './punctuality.ts';

/** A measurement; the time in milliseconds on any clock. */
export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export type Measure = 'resident' | 'heap';

/** A straight line through measurements. */
export interface Trend {
  readonly perHour: number;
  /** The true slope lies within this of `perHour`, 95 times in 100. */
  readonly confidence: number;
  readonly mean: number;
}

/** In less time a slope says nothing. */
const minJudgedMs = 3_600_000;
/**
 * Growth in an hour, as a ratio of the mean, that even the upper end of the confidence stays below.
 */
const maxGrowth = 0.05;

const looks = [
  { measure: 'resident', name: 'resident memory' },
  { measure: 'heap', name: 'heap' },
] as const;

/**
 * Says how memory grew in a stretch of time. The upper end of the confidence has to stay below the
 * goal: a run that is too noisy to show that there is no leak does not hold. A stretch below an
 * hour has no goal.
 */
export function memoryGrowth(
  part: string,
  measured: Readonly<Record<Measure, readonly Point[]>>,
  { fromMs, toMs }: Stretch,
): readonly Finding[] {
  return looks.map(({ measure, name }) => {
    const points = measured[measure].filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    const { perHour, confidence, mean } = trendOf(lowestOfEachMinute(points));
    const percent = (bytes: number): string => `${((bytes / mean) * 100).toFixed(1)} %`;
    const minutes = ((toMs - fromMs) / 60_000).toFixed(0);
    const upper = perHour + confidence;
    const limits = `between ${percent(perHour - confidence)} and ${percent(upper)}`;
    return {
      part,
      name: `${name}, growth an hour over the last ${minutes} minutes, 95 % confidence`,
      value: Number.isFinite(upper) ? `${limits} of ${(mean / 1e6).toFixed(0)} MB` : 'not known',
      ...(toMs - fromMs >= minJudgedMs && {
        goal: `upper end below ${maxGrowth * 100} %`,
        // NaN, as of missing measurements, does not hold.
        holds: upper < maxGrowth * mean,
      }),
    };
  });
}

/**
 * Returns the slope by least squares. A measurement resembles the previous one, so that a thousand
 * of them say less than a thousand independent ones; the confidence accounts for the correlation of
 * neighbours.
 */
export function trendOf(points: readonly Point[]): Trend {
  const count = points.length;
  const mean = average(points.map(({ value }) => value));
  const meanMs = average(points.map(({ atMs }) => atMs));
  const spread = sum(points.map(({ atMs }) => (atMs - meanMs) ** 2));
  const slope = sum(points.map(({ atMs, value }) => (atMs - meanMs) * (value - mean))) / spread;
  const residuals = points.map(({ atMs, value }) => value - mean - slope * (atMs - meanMs));
  const squares = sum(residuals.map((residual) => residual ** 2));
  const neighbours = sum(residuals.slice(1).map((residual, index) => residual * (residuals[index] ?? 0)));
  const correlation = squares === 0 ? 0 : Math.min(0.99, Math.max(0, neighbours / squares));
  const error = Math.sqrt((squares / (count - 2) / spread) * ((1 + correlation) / (1 - correlation)));
  const hourMs = 3_600_000;
  return { perHour: slope * hourMs, confidence: 1.96 * error * hourMs, mean };
}

/** Returns the lowest point of each minute: the memory that a garbage collection leaves. */
export function lowestOfEachMinute(points: readonly Point[]): Point[] {
  const minutes = Map.groupBy(points, ({ atMs }) => Math.floor(atMs / 60_000));
  return [...minutes.values()].map((each) => each.reduce((low, point) => (point.value < low.value ? point : low)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function average(values: readonly number[]): number {
  return sum(values) / values.length;
}
