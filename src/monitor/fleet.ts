import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep } from '../lib/sleep.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { AppliancePoller } from './appliance-poller.ts';
import type { Monitor, MonitoredAppliance } from './monitor.ts';
import type { FleetStatus, RecentTransition } from './status.ts';
import { createTransitionHistory } from './transition-history.ts';

/** A monitor whose appliances can be others from one moment to the next. */
export interface Fleet<Appliance extends MonitoredAppliance> extends Monitor {
  /**
   * Watches these and no others. Who is the same as before is left alone: readings, counters and schedules go on. Who is not
   * begins anew, with the counters it had; where it is the same machine its readings stay until there are newer ones.
   */
  watch(appliances: readonly Appliance[]): Promise<FleetChange>;
}

/** How many. */
export interface FleetChange {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export interface FleetParts<Appliance extends MonitoredAppliance> {
  readonly store: MetricsStore;
  readonly createPoller: (
    appliance: Appliance,
    inherited: Inherited,
    onTransition: (transition: RecentTransition) => void,
  ) => AppliancePoller;
  /** Whether nothing at all differs. */
  readonly isSame: (one: Appliance, other: Appliance) => boolean;
  /** Whether it is the same machine, watched in another way. */
  readonly isSameMachine: (one: Appliance, other: Appliance) => boolean;
}

/** What a poller goes on with. */
export type Inherited = Partial<Pick<AppliancePoller, 'counters' | 'state'>>;

interface Watched<Appliance> {
  readonly appliance: Appliance;
  readonly poller: AppliancePoller;
}

/** A thousand handshakes at once would leave no time for anything else; a few appliances are there in no time. */
const betweenStartsMs = 10;
/** How often readings that became too old are looked for, though nobody asks for a page. */
const maintenanceMs = 1_000;

/** Appliances that are compared and begun before everything else has its turn. */
const oneTurn = 50;

/** Watches nothing until it is told what. */
export function createFleet<Appliance extends MonitoredAppliance>(parts: FleetParts<Appliance>): Fleet<Appliance> {
  const { store, createPoller, isSame, isSameMachine } = parts;
  const closing = new AbortController();
  let watched: ReadonlyMap<string, Watched<Appliance>> = new Map();
  let started = false;
  let starting: Promise<void> = Promise.resolve();
  let wasReady = false;
  const history = createTransitionHistory();
  let described: FleetStatus = { appliances: [], transitions: [] };
  const pollers = (): readonly AppliancePoller[] => [...watched.values()].map(({ poller }) => poller);
  let maintenance: NodeJS.Timeout | undefined;

  /** Removes what is too old, of these appliances or of all: what is missed is read again as soon as the appliance answers. */
  function expire(names: Iterable<string> = watched.keys()): void {
    for (const name of names) watched.get(name)?.poller.expire();
  }

  /** One after the other, and none that was closed while it waited. */
  async function startAll(begun: readonly AppliancePoller[]): Promise<void> {
    for (const poller of begun) {
      if (closing.signal.aborted) return;
      if (watched.get(poller.name)?.poller !== poller) continue;
      poller.start();
      await sleep(betweenStartsMs, closing.signal).catch(() => undefined);
    }
  }

  async function watch(appliances: readonly Appliance[]): Promise<FleetChange> {
    const before = watched;
    const staying = (appliance: Appliance): Watched<Appliance> | undefined => {
      const one = before.get(appliance.name);
      return one && isSame(one.appliance, appliance) ? one : undefined;
    };
    const untouched = new Set(appliances.map(staying));
    await Promise.all([...before.values()].filter((one) => !untouched.has(one)).map(({ poller }) => poller.close()));

    const isKnownMachine = (appliance: Appliance): boolean => {
      const one = before.get(appliance.name);
      return one !== undefined && isSameMachine(one.appliance, appliance);
    };
    const begun: AppliancePoller[] = [];
    const begin = (appliance: Appliance): Watched<Appliance> => {
      const { counters, state } = before.get(appliance.name)?.poller ?? {};
      const inherited = { ...(counters && { counters }), ...(state && isKnownMachine(appliance) && { state }) };
      const poller = createPoller(appliance, inherited, history.add);
      begun.push(poller);
      return { appliance, poller };
    };
    const next = new Map<string, Watched<Appliance>>();
    for (const appliance of appliances) {
      next.set(appliance.name, staying(appliance) ?? begin(appliance));
      if (next.size % oneTurn === 0) await nextTurn();
    }
    // From here on all at once: what is stored about another machine is dropped, and its poller must not write again.
    const others = appliances.filter((appliance) => !isKnownMachine(appliance)).map(({ name }) => name);
    store.arrange(
      appliances.map(({ name }) => name),
      new Set(others),
    );
    watched = next;
    // Or counters would be gone until the first call of the new poller is over.
    for (const poller of begun) if (before.has(poller.name)) poller.publish();
    history.keepOnly((appliance) => watched.has(appliance));
    if (started) starting = starting.then(() => startAll(begun));

    const added = appliances.filter(({ name }) => !before.has(name)).length;
    const removed = [...before.keys()].filter((name) => !watched.has(name)).length;
    return { added, changed: begun.length - added, removed };
  }

  return {
    get appliances() {
      return [...watched.values()].map(({ appliance }) => appliance);
    },
    watches: (appliance) => watched.has(appliance),
    watch,
    start() {
      started = true;
      maintenance = setInterval(() => expire(), maintenanceMs);
      starting = startAll(pollers());
    },
    page(form, appliances) {
      expire(appliances);
      return store.page(form, appliances);
    },
    get ready() {
      wasReady ||= pollers().every((poller) => poller.hadFirstRuns);
      return wasReady;
    },
    describe() {
      const appliances = pollers().map((poller) => poller.describe());
      const transitions = history.newestFirst;
      const isSame =
        transitions === described.transitions &&
        appliances.length === described.appliances.length &&
        appliances.every((appliance, index) => appliance === described.appliances[index]);
      if (!isSame) described = { appliances, transitions };
      return described;
    },
    changed(appliance, area, farm) {
      void watched.get(appliance)?.poller.changed(area, farm);
    },
    async close() {
      closing.abort();
      clearInterval(maintenance);
      await starting;
      await Promise.all(pollers().map((poller) => poller.close()));
    },
  };
}
