// Says what a collector is: which calls it makes, what it makes of the responses, and the metric
// families that show it. A collector has no timer, and no state but its last reading, which the
// scheduler keeps for it. The scheduler calls it, and decides what runs at the same time. What
// collectors learn from each other goes through Facts. Read on in system.ts, a plain one, farms.ts,
// and registry.ts, the list of all.

import type { Params, ReadKey, ReplyOf } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { Farm } from '../appliance/farm.ts';
import type { SafeFarmName } from '../appliance/safe-farm-name.ts';
import type { StatefulKind } from '../lib/states.ts';
import type { Area } from '../appliance/api/table.ts';
import type { Emit, Family } from '../metrics/family.ts';
import type { InSlot } from '../lib/slots.ts';
import type { ConfiguredObject } from './configured.ts';

/**
 * Facts that collectors of one appliance learn from each other's results; see appliance-facts.ts.
 */
export interface Facts {
  /** Newest list of the farms that are watched; undefined until it was read once. */
  readonly farms: readonly Farm[] | undefined;
  readonly edition: Edition | undefined;
  readonly product: string | undefined;
  /** Product version; a change of it makes missing routes worth another try. */
  readonly version: string | undefined;
  /** False after a 402, true after a call behind the activation check answered 200. */
  readonly isActivated: boolean | undefined;
  /** Estimated end of the activation in Unix seconds, when only whole days are known. */
  readonly activationEndSeconds: number | undefined;
  /**
   * Since when the probes of a farm have met no proxy that hangs; without the farms where a probe
   * cannot tell. Undefined without probes.
   */
  readonly answersSinceElapsedMs: ReadonlyMap<string, number> | undefined;
}

export type Edition = 'community' | 'enterprise';

export interface CollectContext {
  readonly read: Read;
  readonly facts: Facts;
  /**
   * Resolves to the name of a farm for a read with a side effect on L4 farms, by a recent list;
   * undefined for an L4 farm, and for one whose profile is not known.
   */
  readonly safeFarmName: (farm: Farm) => Promise<SafeFarmName | undefined>;
  /**
   * Returns the data of a collector, of one farm if it is named; undefined where there is none, or
   * a stale one.
   */
  readonly fresh: <Data>(collector: Collector<Data>, farm?: string) => Data | undefined;
  readonly changedAtElapsedMs: (farm: string) => number | undefined;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  /** False for a farm that `farms.include` and `farms.exclude` leave out. */
  readonly watches: (farm: string) => boolean;
  /** For dates, in Unix milliseconds; {@link elapsedNow} for ages and waits. */
  readonly now: () => number;
  readonly elapsedNow: () => number;
  readonly labels: Readonly<Record<string, string>>;
  /** For the collector that probes farms. */
  readonly probing: Probing;
}

interface Probing {
  readonly settings: VipSettings;
  /** Bounds the probes that this process makes at the same time. */
  readonly inSlot: InSlot;
  /** The farms that changed; undefined for all. */
  readonly onlyFarms?: ReadonlySet<string> | undefined;
}

export interface VipSettings {
  /** True where the configuration does not say whether to probe: then L4 farms alone are. */
  readonly l4Only?: boolean;
  /** Names to ask for by TLS, by farm. */
  readonly serverNames: Readonly<Record<string, readonly string[]>>;
  /** Other destinations, by `ADDRESS` or `ADDRESS:PORT`. */
  readonly connectTo: Readonly<Record<string, string>>;
  /** Networks that may be connected to; empty for all that are not reserved. */
  readonly networks: readonly string[];
  /** L4 farms that do not take TCP; all others then take it. Undefined if no setting says. */
  readonly udpFarms?: readonly string[] | undefined;
}

/** The addresses that may be connected to, whatever names the farms have. */
export type VipLimits = Omit<VipSettings, 'serverNames'>;

export type Read = <Key extends ReadKey>(
  key: Key,
  params: Params<Key>,
  options?: CollectorReadOptions,
) => Promise<ReplyOf<Key>>;

export interface CollectorReadOptions {
  /** The time limit of the call; the client's own if left out. */
  readonly limitMs?: number;
  /**
   * The time of the call that counts as work of the appliance at most; for the rest it waits for a
   * proxy that hangs.
   */
  readonly workMs?: number;
  /** Receives the milliseconds of a call that was answered, without its wait for others. */
  readonly onDuration?: (ms: number) => void;
}

/** An object whose changes of state are logged and counted. */
export interface ObjectState {
  readonly object: StatefulKind;
  /** Identifies the object within its appliance and kind, for example farm, service and backend. */
  readonly labels: Readonly<Record<string, string>>;
  readonly state: string;
}

/** Finds the objects of a reading; see {@link ObjectState}. */
export interface Entity<Data = unknown> {
  readonly object: StatefulKind;
  /** Returns every object with its state, also those that compact mode leaves out. */
  states(data: Data): Iterable<ObjectState>;
}

export interface WriteOptions {
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
}

/** A metric family, and how a reading of `Data` is written in it. */
export interface ReadingFamily<Data = unknown> {
  readonly family: Family;
  /** Writes the samples; pure. A method, so that a list can hold the families of all collectors. */
  write(emit: Emit, data: Data, options: WriteOptions): void;
}

interface CollectorBase<Data> {
  /** The `collector` label and the key in the configuration. */
  readonly name: string;
  /** Six-field cron expression, the default. */
  readonly schedule: string;
  /** Age in milliseconds from which a reading is stale, the default. */
  readonly maxStaleMs: number;
  readonly enabled: boolean;
  /** True if a response 404 means that the edition lacks the route; otherwise it is a failure. */
  readonly optional?: true;
  /**
   * True if it never reads from the appliance: it runs once the farms are known, whatever the
   * appliance answers.
   */
  readonly makesNoCalls?: true;
  /**
   * Areas of the API whose changes show in what it reads: a change through the gateway makes it run
   * at once.
   */
  readonly refreshedBy: readonly Area[];
  /**
   * The metrics of the data, the most important first: the series limit leaves out the last ones.
   */
  readonly families: readonly ReadingFamily<Data>[];
  readonly entity?: Entity<Data>;
  /**
   * Returns the configured objects that a reading knows in full; undefined where it knows none. A
   * method, as `write` above.
   */
  configuredObjects?(data: Data): readonly ConfiguredObject[] | undefined;
}

export interface ApplianceWideCollector<Data = unknown> extends CollectorBase<Data> {
  collect(context: CollectContext): Promise<Data>;
  /** The data to show on `/metrics` while there is no reading; nothing if left out. */
  readonly withoutReading?: Data;
  /** Returns true if a part of the data is left to the next run, which then comes sooner. */
  isPartial?(data: Data): boolean;
}

/**
 * Reads each farm with its own call. The poller spreads the calls over the interval, and keeps one
 * reading for each farm.
 */
export interface PerFarmCollector<Data = unknown> extends CollectorBase<Data> {
  /** Returns false for a farm whose profile or name the call does not support. */
  covers(farm: Farm): boolean;
  /**
   * Begins a run over all farms, and may read once what concerns all of them. Returns a function
   * that collects one farm.
   */
  begin(context: CollectContext): Promise<(farm: Farm, context: CollectContext) => Promise<Data>>;
}

export type Collector<Data = unknown> = ApplianceWideCollector<Data> | PerFarmCollector<Data>;

export function isPerFarmCollector(collector: Collector): collector is PerFarmCollector {
  return 'begin' in collector;
}

/** Reads; does `instead` if the appliance lacks the route. */
export async function orIfMissing<Value>(
  read: () => Promise<Value>,
  instead: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApplianceError && error.routeMissing) return await instead();
    throw error;
  }
}

export const farmAreas: readonly Area[] = [
  'farms',
  'farm-backends',
  'farm-certificates',
  'farm-farmguardian',
  'farm-headers',
  'farm-ipds',
  'farm-rewriteurl',
  'farm-services',
  'farm-sessions',
  'farm-zones',
];
