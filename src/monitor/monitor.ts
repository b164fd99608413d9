import type { Area } from '../appliance/endpoints/table.ts';
import { sleep } from '../lib/sleep.ts';
import type { Exposition } from '../metrics/exposition.ts';
import type { Format, Page } from '../metrics/page.ts';
import type { AppliancePoller, ApplianceStatus } from './appliance-poller.ts';
import { createUpkeep } from './upkeep.ts';

/** All appliances together, as the listeners see them. */
export interface Monitor {
  readonly appliances: readonly MonitoredAppliance[];
  start(): void;
  /** The finished page of all appliances, or of those named, with everything too old withheld. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
  /** True once every enabled collector of every appliance has had its turn, whatever came of it. */
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

/** A thousand handshakes at once would leave no time for anything else; a few appliances are there in no time. */
const betweenStartsMs = 10;

export function createMonitor(parts: {
  readonly appliances: readonly MonitoredAppliance[];
  readonly pollers: readonly AppliancePoller[];
  readonly exposition: Exposition;
}): Monitor {
  const { appliances, pollers, exposition } = parts;
  const upkeep = createUpkeep(function* steps() {
    for (const poller of pollers) {
      poller.settle();
      yield;
    }
    yield* exposition.joinAhead();
  });
  const closing = new AbortController();
  let starting: Promise<void> = Promise.resolve();

  async function startPollers(): Promise<void> {
    for (const poller of pollers) {
      poller.start();
      await sleep(betweenStartsMs, closing.signal).catch(() => undefined);
      if (closing.signal.aborted) return;
    }
  }

  return {
    appliances,
    start() {
      upkeep.start();
      starting = startPollers();
    },
    page(format, only) {
      for (const poller of pollers) if (only?.has(poller.name) ?? true) poller.settle();
      return exposition.page(format, only);
    },
    get ready() {
      return pollers.every((poller) => poller.hadFirstRuns);
    },
    describe: () => pollers.map((poller) => poller.describe()),
    changed(appliance, area, farm) {
      void pollers.find(({ name }) => name === appliance)?.changed(area, farm);
    },
    async close() {
      closing.abort();
      await Promise.all([starting, upkeep.close()]);
      await Promise.all(pollers.map((poller) => poller.close()));
    },
  };
}
