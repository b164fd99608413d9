import type { Configuration } from './configuration.ts';
import type { ExporterProcess } from './exporter-process.ts';
import type { Fleet } from './fleet.ts';
import type { Pace } from './pace.ts';
import type { PageReader } from './page-reader.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import type { Waits } from './waits.ts';
import type { Watch } from './watch.ts';

/** In this order: after random faults, appliances are left alone for minutes. */
export const parts = ['reload', 'hanging', 'faults'] as const;
export type Part = (typeof parts)[number];

/** What three in ten appliances have all at once. */
export const troubles = ['hang', 'refuse', 'slow_body', 'expired_tls'] as const;
export type Trouble = (typeof troubles)[number];

export interface SoakOptions {
  readonly parts: ReadonlySet<Part>;
  /** Of the part with random faults. */
  readonly minutes: number;
  /** Of each trouble, and of the time without one. */
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
  readonly webConfig: boolean;
  readonly promtool: boolean;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** What the parts of a soak work on. */
export interface Stage {
  readonly options: SoakOptions;
  readonly pace: Pace;
  readonly plan: Plan;
  readonly random: Random;
  readonly fleet: Fleet;
  readonly configuration: Configuration;
  /** Secrets that do not look like canaries. */
  readonly secrets: readonly string[];
  readonly exporter: ExporterProcess;
  readonly reader: PageReader;
  readonly watch: Watch;
  readonly waits: Waits;
}
