import { collectors } from '../../src/collectors/registry.ts';
import { createJob } from '../../src/monitor/job.ts';

/** How a collector is polled in the soak. */
export interface PacedCollector {
  readonly name: string;
  readonly intervalMs: number;
  readonly maxStaleMs: number;
  /** A cron expression. */
  readonly schedule: string;
}

/** Schedules so short that a soak sees many cycles, and what follows from them. */
export interface Pace {
  /** Milliseconds between two lists of farms. */
  readonly cycleMs: number;
  readonly collectors: readonly PacedCollector[];
  /** The keys of the configuration. */
  readonly configuration: object;
}

const cyclesOf: Readonly<Record<string, number>> = { farms: 1, summary: 3, system: 3, interfaces: 3 };
const cyclesOfOthers = 6;
const cyclesUntilStale = 3;

/** `cycleSeconds` divides 60, and so does six times it or the other way round. */
export function createPace(cycleSeconds: number): Pace {
  const paced = collectors
    .filter(({ enabled }) => enabled)
    .map(({ name }) => {
      const seconds = cycleSeconds * (cyclesOf[name] ?? cyclesOfOthers);
      const schedule = seconds < 60 ? `*/${seconds} * * * * *` : `0 */${seconds / 60} * * * *`;
      return { name, schedule, intervalMs: seconds * 1_000, maxStaleMs: seconds * cyclesUntilStale * 1_000 };
    });
  return {
    cycleMs: cycleSeconds * 1_000,
    collectors: paced,
    configuration: {
      collectors: Object.fromEntries(
        paced.map(({ name, schedule, maxStaleMs }) => [name, { schedule, max_stale: `${maxStaleMs / 1_000}s` }]),
      ),
      // Without chance, so that lateness is late and not jitter.
      polling: { timeout: `${cycleSeconds * 500}ms`, max_busy_ratio: 1, jitter: '0%' },
    },
  };
}

/** Milliseconds after each tick at which an appliance has its turn, as the exporter places it. */
export function offsetMsOf(appliance: string, paced: PacedCollector): number {
  const { name, schedule, intervalMs, maxStaleMs } = paced;
  const collector = collectors.find((each) => each.name === name);
  if (!collector) throw new Error(`there is no collector ${name}`);
  const parts = { appliance, priority: 0, jitterRatio: 0, intervalMs };
  return createJob({ collector, schedule, maxStaleMs }, parts).offsetMs;
}
