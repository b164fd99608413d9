import type { Area } from '../appliance/endpoints/table.ts';
import type { Page, Representation } from '../metrics/page.ts';
import type { FleetStatus } from './status.ts';

/** All appliances together, as the listeners see them. */
export interface Monitor {
  readonly appliances: readonly MonitoredAppliance[];
  watches(appliance: string): boolean;
  start(): void;
  /** The page of all appliances, or of those named, as of now: without anything too old. */
  page(form: Representation, appliances?: ReadonlySet<string>): Promise<Page>;
  /** True once every enabled collector of every appliance has had its turn, whatever came of it; from then on it stays so. */
  readonly ready: boolean;
  /** As of now; the same object until something changes. */
  describe(): FleetStatus;
  /** See {@link AppliancePoller.changed}; returns at once. */
  changed(appliance: string, area: Area, farm: string | undefined): void;
  close(): Promise<void>;
}

export interface MonitoredAppliance {
  readonly name: string;
  /** Extra labels from the configuration. */
  readonly labels: Readonly<Record<string, string>>;
}
