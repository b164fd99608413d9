import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Area } from '../appliance/api/table.ts';
import { sleep } from '../lib/time.ts';
import type { Exposition, Representation } from '../metrics/exposition.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { AppliancePoller } from './appliance-poller.ts';
import type { StateListener } from '../state/appliance-state.ts';
import type { ApplianceStatus, FleetStatus, Transition } from '../state/status.ts';
import type { Reading } from '../state/reading.ts';
import { TransitionHistory } from '../state/transition-history.ts';

/** All appliances together, as routes and the gateway use them. */
export type Fleet = Pick<
  FleetPoller<PolledAppliance>,
  'appliances' | 'watches' | 'exposition' | 'isReady' | 'status' | 'statusOf' | 'transitions' | 'refresh'
>;

/** The part of an appliance's settings that the fleet itself uses. */
export interface PolledAppliance {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface FleetChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface FleetParts<Appliance extends PolledAppliance> {
  readonly store: MetricsStore;
  readonly createPoller: (appliance: Appliance, inherited: Inherited, listener: StateListener) => FleetMember;
  readonly isSame: (one: Appliance, other: Appliance) => boolean;
  /** Returns true if it is the same machine, whatever else differs. */
  readonly isSameMachine: (one: Appliance, other: Appliance) => boolean;
}

/** A poller as the fleet uses it. */
export type FleetMember = Omit<Pick<AppliancePoller, keyof AppliancePoller>, 'run'>;

/** The state of a replaced poller for the one that replaces it. */
export type Inherited = Partial<Pick<AppliancePoller, 'counters' | 'handover'>>;

interface Watched<Appliance> {
  readonly appliance: Appliance;
  readonly poller: FleetMember;
}

/** Spreads the handshakes of a large fleet; a few appliances start at once. */
const betweenStartsMs = 10;
/** How often stale readings are evicted while nobody asks for an exposition. */
const maintenanceMs = 1_000;
/** Number of appliances that are compared and created before other work gets a tick. */
const appliancesPerTick = 50;

/** Polls a set of appliances that a reload can change. It is empty until the first `watch`. */
export class FleetPoller<Appliance extends PolledAppliance> {
  readonly #parts: FleetParts<Appliance>;
  readonly #closing = new AbortController();
  readonly #transitions = new TransitionHistory();
  #watched: ReadonlyMap<string, Watched<Appliance>> = new Map();
  #isStarted = false;
  #starting: Promise<void> = Promise.resolve();
  #maintenance: NodeJS.Timeout | undefined;
  #wasReady = false;

  constructor(parts: FleetParts<Appliance>) {
    this.#parts = parts;
  }

  get appliances(): readonly Appliance[] {
    return [...this.#watched.values()].map(({ appliance }) => appliance);
  }

  watches(appliance: string): boolean {
    return this.#watched.has(appliance);
  }

  /**
   * Watches these appliances and no others. The poller of an unchanged appliance goes on untouched.
   * A changed appliance gets a new poller with the counters of the old one, and with its readings
   * if it is the same machine.
   */
  async watch(appliances: readonly Appliance[]): Promise<FleetChange> {
    const before = this.#watched;
    const unchanged = this.#unchanged(appliances);
    await Promise.all([...before].filter(([name]) => !unchanged.has(name)).map(([, { poller }]) => poller.close()));

    const next = new Map<string, Watched<Appliance>>();
    for (const appliance of appliances) {
      next.set(appliance.name, unchanged.get(appliance.name) ?? this.#create(appliance));
      if (next.size % appliancesPerTick === 0) await yieldToEventLoop();
    }
    const created = [...next.values()].map(({ poller }) => poller).filter(({ name }) => !unchanged.has(name));
    this.#replace(next, created);
    if (this.#isStarted) this.#starting = this.#starting.then(() => this.#startAll(created));

    const names = created.map(({ name }) => name);
    return {
      added: names.filter((name) => !before.has(name)),
      changed: names.filter((name) => before.has(name)),
      removed: [...before.keys()].filter((name) => !next.has(name)),
    };
  }

  start(): void {
    this.#isStarted = true;
    this.#maintenance = setInterval(() => this.#expire(), maintenanceMs);
    this.#starting = this.#startAll(this.#pollers);
  }

  /**
   * Returns the exposition of all appliances, or of those named, as of now: without anything stale.
   * With `withoutConfiguredLabels`, the labels of the configuration are left out.
   */
  exposition(
    form: Representation,
    appliances?: ReadonlySet<string>,
    withoutConfiguredLabels = false,
  ): Promise<Exposition> {
    this.#expire(appliances);
    return this.#parts.store.exposition(form, appliances, withoutConfiguredLabels);
  }

  /** True once it was started, and the first group of collectors of every appliance ran or was skipped. */
  get isReady(): boolean {
    this.#wasReady ||= this.#isStarted && this.#pollers.every((poller) => poller.hadFirstRuns);
    return this.#wasReady;
  }

  /**
   * Returns the status as of now; an appliance is the same object until something of it changes.
   */
  status(): FleetStatus {
    return { appliances: this.#pollers.map((poller) => poller.status()), transitions: this.transitions };
  }

  /** Returns the newest changes of state, the newest first. */
  get transitions(): readonly Transition[] {
    return this.#transitions.newestFirst;
  }

  /** Returns the status of one appliance as of now; undefined for one that is not watched. */
  statusOf(appliance: string): ApplianceStatus | undefined {
    return this.#watched.get(appliance)?.poller.status();
  }

  /** Returns the fresh readings of an appliance; undefined while it does not answer. */
  readingsOf(appliance: string): ReadonlyMap<string, Reading> | undefined {
    const poller = this.#watched.get(appliance)?.poller;
    return poller?.status().up === true ? poller.state.snapshot() : undefined;
  }

  /** Passes a change to {@link AppliancePoller.refresh}; returns at once. */
  refresh(appliance: string, area: Area, farm: string | undefined): void {
    void this.#watched.get(appliance)?.poller.refresh(area, farm);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#maintenance);
    await this.#starting;
    await Promise.all(this.#pollers.map((poller) => poller.close()));
  }

  get #pollers(): readonly FleetMember[] {
    return [...this.#watched.values()].map(({ poller }) => poller);
  }

  #unchanged(appliances: readonly Appliance[]): ReadonlyMap<string, Watched<Appliance>> {
    const unchanged = new Map<string, Watched<Appliance>>();
    for (const appliance of appliances) {
      const one = this.#watched.get(appliance.name);
      if (one && this.#parts.isSame(one.appliance, appliance)) unchanged.set(appliance.name, one);
    }
    return unchanged;
  }

  #create(appliance: Appliance): Watched<Appliance> {
    const { createPoller } = this.#parts;
    const before = this.#watched.get(appliance.name);
    const inherited = before && {
      counters: before.poller.counters,
      ...(this.#isKnownMachine(appliance) && { handover: before.poller.handover }),
    };
    const poller = createPoller(appliance, inherited ?? {}, this.#transitions);
    return { appliance, poller };
  }

  #isKnownMachine(appliance: Appliance): boolean {
    const before = this.#watched.get(appliance.name);
    return before !== undefined && this.#parts.isSameMachine(before.appliance, appliance);
  }

  /**
   * Watches the next set, in one tick. Drops what is stored of other machines: their pollers must not
   * write again. Shows the inherited counters, so that they are not absent before the first call.
   */
  #replace(next: ReadonlyMap<string, Watched<Appliance>>, created: readonly FleetMember[]): void {
    const before = this.#watched;
    const otherMachines = [...next.values()].filter(({ appliance }) => !this.#isKnownMachine(appliance));
    this.#parts.store.arrange([...next.keys()], new Set(otherMachines.map(({ appliance }) => appliance.name)));
    this.#watched = next;
    for (const poller of created) if (before.has(poller.name)) poller.publish();
    this.#transitions.keepOnly((appliance) => next.has(appliance));
  }

  /** Starts one poller after the other; skips those that were closed while they waited. */
  async #startAll(created: readonly FleetMember[]): Promise<void> {
    for (const poller of created) {
      if (this.#closing.signal.aborted) return;
      if (this.#watched.get(poller.name)?.poller !== poller) continue;
      poller.start();
      await sleep(betweenStartsMs, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Evicts the stale readings of these appliances, or of all. */
  #expire(names: Iterable<string> = this.#watched.keys()): void {
    for (const name of names) this.#watched.get(name)?.poller.expire();
  }
}
