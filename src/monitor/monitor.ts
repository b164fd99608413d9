import type { Area } from '../appliance/endpoints/table.ts';
import type { Exposition, Format, Page } from '../metrics/exposition.ts';
import type { AppliancePoller, ApplianceStatus } from './appliance-poller.ts';

/** All appliances together, as the listeners see them. */
export interface Monitor {
  readonly appliances: readonly MonitoredAppliance[];
  watches(appliance: string): boolean;
  start(): void;
  /** The finished page of all appliances, or of those named, with everything too old withheld. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
  /** True once every enabled collector of every appliance has had its turn, whatever came of it; from then on it stays so. */
  readonly ready: boolean;
  describe(): readonly ApplianceStatus[];
  /** See {@link AppliancePoller.changed}; returns at once. */
  changed(appliance: string, area: Area, farm: string | undefined): void;
  close(): Promise<void>;
}

export interface MonitoredAppliance {
  readonly name: string;
  /** Extra labels from the configuration. */
  readonly labels: Readonly<Record<string, string>>;
}

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
  readonly exposition: Exposition;
  readonly createPoller: (appliance: Appliance, inherited: Inherited) => AppliancePoller;
  /** Whether nothing at all differs. */
  readonly isSame: (one: Appliance, other: Appliance) => boolean;
  /** Whether it is the same machine, watched in another way. */
  readonly isSameMachine: (one: Appliance, other: Appliance) => boolean;
}

/** What a poller goes on with. */
export type Inherited = Partial<Pick<AppliancePoller, 'counters' | 'legacy'>>;

interface Watched<Appliance> {
  readonly appliance: Appliance;
  readonly poller: AppliancePoller;
}

/** Watches nothing until it is told what. */
export function createFleet<Appliance extends MonitoredAppliance>(parts: FleetParts<Appliance>): Fleet<Appliance> {
  const { exposition, createPoller, isSame, isSameMachine } = parts;
  let watched: ReadonlyMap<string, Watched<Appliance>> = new Map();
  let started = false;
  let wasReady = false;
  const pollers = (): readonly AppliancePoller[] => [...watched.values()].map(({ poller }) => poller);

  return {
    get appliances() {
      return [...watched.values()].map(({ appliance }) => appliance);
    },
    watches: (appliance) => watched.has(appliance),
    async watch(appliances) {
      const before = watched;
      const stays = (appliance: Appliance): Watched<Appliance> | undefined => {
        const one = before.get(appliance.name);
        return one && isSame(one.appliance, appliance) ? one : undefined;
      };
      const staying = new Set(appliances.map(stays));
      await Promise.all([...before.values()].filter((one) => !staying.has(one)).map(({ poller }) => poller.close()));

      const isKnownMachine = (appliance: Appliance): boolean => {
        const one = before.get(appliance.name);
        return one !== undefined && isSameMachine(one.appliance, appliance);
      };
      // First without those of which everything held is about another machine, which drops it.
      exposition.arrange(appliances.filter(isKnownMachine).map(({ name }) => name));
      exposition.arrange(appliances.map(({ name }) => name));

      const begun: AppliancePoller[] = [];
      const begin = (appliance: Appliance): Watched<Appliance> => {
        const { counters, legacy } = before.get(appliance.name)?.poller ?? {};
        const inherited = { ...(counters && { counters }), ...(legacy && isKnownMachine(appliance) && { legacy }) };
        const poller = createPoller(appliance, inherited);
        begun.push(poller);
        return { appliance, poller };
      };
      watched = new Map(appliances.map((appliance) => [appliance.name, stays(appliance) ?? begin(appliance)]));
      if (started) for (const poller of begun) poller.start();

      const added = appliances.filter(({ name }) => !before.has(name)).length;
      const removed = [...before.keys()].filter((name) => !watched.has(name)).length;
      return { added, changed: begun.length - added, removed };
    },
    start() {
      started = true;
      for (const poller of pollers()) poller.start();
    },
    page(format, only) {
      for (const poller of pollers()) poller.settle();
      return exposition.page(format, only);
    },
    get ready() {
      wasReady ||= pollers().every((poller) => poller.hadFirstRuns);
      return wasReady;
    },
    describe: () => pollers().map((poller) => poller.describe()),
    changed(appliance, area, farm) {
      void watched.get(appliance)?.poller.changed(area, farm);
    },
    async close() {
      await Promise.all(pollers().map((poller) => poller.close()));
    },
  };
}
