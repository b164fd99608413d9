import type { Program } from '../exporter.ts';
import type { ClientCalls } from './client-process.ts';
import type { Configuration } from './configuration.ts';
import type { Fleet } from './fleet.ts';
import type { PageReader, WatchedExporter } from './exporter.ts';
import type { Pace, Plan } from './plan.ts';
import type { Waits } from './punctuality.ts';
import type { Random } from '../random.ts';
import type { Watch } from './watch.ts';
import type { Worker } from '../worker.ts';

/** In this order: after random faults, appliances are left alone for minutes. */
export const parts = ['reload', 'hanging', 'faults'] as const;
export type Part = (typeof parts)[number];

/** Troubles that three in ten appliances have at the same time. */
export const troubles = ['hang', 'refuse', 'slow_body', 'expired_tls'] as const;
export type Trouble = (typeof troubles)[number];

export interface SoakOptions {
  readonly parts: readonly Part[];
  readonly program: Program;
  /** The time of all parts: the one with random faults is last, and takes at least a quarter. */
  readonly minutes: number;
  /** The time of each trouble, and of the pause without one. */
  readonly troubleMinutes: number;
  readonly troubles: readonly Trouble[];
  readonly appliances: number;
  readonly reloads: number;
  /** Seconds between two lists of farms. */
  readonly cycleSeconds: number;
  readonly scrapeEveryMs: number;
  /** Bad clients at a time, and how many of them come as a herd. */
  readonly clients: number;
  readonly herd: number;
  readonly promtool: boolean;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** The things that the parts of a soak share. */
export interface Stage {
  readonly options: SoakOptions;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly pace: Pace;
  readonly plan: Plan;
  readonly random: Random;
  readonly fleet: Fleet;
  /** Waits for its orders: it was started before the parts, of the same files as all others. */
  readonly clients: Worker<ClientCalls>;
  readonly configuration: Configuration;
  /** Secrets that do not look like canaries. */
  readonly secrets: readonly string[];
  readonly exporter: WatchedExporter;
  readonly reader: PageReader;
  readonly watch: Watch;
  readonly waits: Waits;
}
