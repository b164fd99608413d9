/** A measurement; the time in milliseconds on any clock. */
export interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** A straight line through measurements. */
export interface Trend {
  readonly perHour: number;
  /** The true slope lies within this of `perHour`, 95 times in 100. */
  readonly confidence: number;
  readonly mean: number;
}

/** Whether growth by more than a share of the mean within an hour is beyond doubt; what was not measured is taken to grow. */
export function growsBy(trend: Trend, shareOfMean: number): boolean {
  return !(trend.perHour - trend.confidence <= shareOfMean * trend.mean);
}

/**
 * Least squares. What is measured next resembles what was measured last, so that a thousand measurements say less than a
 * thousand independent ones would; the confidence takes that into account by the correlation of neighbours.
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

/** The lowest of each stretch of time: for memory, what is left after a collection of garbage. */
export function lowestOfEach(stretchMs: number, points: readonly Point[]): Point[] {
  const lowest = new Map<number, Point>();
  for (const point of points) {
    const stretch = Math.floor(point.atMs / stretchMs);
    const known = lowest.get(stretch);
    if (!known || point.value < known.value) lowest.set(stretch, point);
  }
  return [...lowest.values()];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function average(values: readonly number[]): number {
  return sum(values) / values.length;
}
