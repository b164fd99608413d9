import { collectors } from '../../src/collectors/registry.ts';
import { createJob } from '../../src/poller/job.ts';
import type { ApplianceToStart } from './appliance-process.ts';
import { adminKeyOf, apiKeyOf } from './canaries.ts';

/** The appliances and clients, and the events of each. */
export interface Plan {
  readonly toStart: readonly ApplianceToStart[];
  /** In the configuration from the beginning; the others are added in the part with reloads. */
  readonly configured: readonly string[];
  /** Nothing ever happens to them: two in ten. */
  readonly control: readonly string[];
  /** The others of those that are configured: random faults are theirs. */
  readonly faulty: readonly string[];
  /** All of these have the same trouble at once, and are changed by reloads: three in ten. */
  readonly troubled: readonly string[];
  readonly untroubled: readonly string[];
  readonly spare: readonly string[];
}

/** A tenth more than are configured can be added later. */
export function planAppliances(count: number): Plan {
  const all = Array.from({ length: count + Math.ceil(count / 10) }, (_, index) => index);
  const named = (chosen: (index: number) => boolean): string[] => all.filter(chosen).map(nameOf);
  return {
    toStart: all.map(applianceToStart),
    configured: named((index) => index < count),
    control: named((index) => index < count && index % 10 >= 8),
    faulty: named((index) => index < count && index % 10 < 8),
    troubled: named((index) => index < count && index % 10 < 3),
    untroubled: named((index) => index < count && index % 10 >= 3),
    spare: named((index) => index >= count),
  };
}

function nameOf(index: number): string {
  return `lb-${String(index + 1).padStart(3, '0')}`;
}

/** Every fifth one is large; some show their own keys where names should be. */
function applianceToStart(index: number): ApplianceToStart {
  const name = nameOf(index);
  return {
    name,
    farms: index % 5 === 4 ? 20 : 2 + (index % 4),
    backendsPerFarm: 2 + (index % 5),
    pollingKey: apiKeyOf(name),
    adminKey: adminKeyOf(name),
    planted: index % 10 === 1 ? [apiKeyOf(name)] : index % 10 === 2 ? [adminKeyOf(name)] : [],
  };
}

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
