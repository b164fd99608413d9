import type { CallReport } from '../appliance/client.ts';
import { collectors } from '../collectors/registry.ts';
import { type ApplianceSettings, objectivesOf, type Settings, watchesFarm } from '../config/settings.ts';
import { createMetricsStore, type MetricsStore } from '../metrics/store.ts';
import { AppliancePoller } from '../scheduler/appliance-poller.ts';
import { createCounters } from '../scheduler/counters.ts';
import { storedReplies } from '../state/appliance-state.ts';
import type { FarmObjective } from '../state/status.ts';
import type { AppliancePollerParts } from '../scheduler/poller-services.ts';
import type { BasePaths } from '../appliance/base-paths.ts';
import type { HostResolver } from '../lib/host-resolver.ts';
import { applianceFamilies } from './appliance-families.ts';
import { connectAppliance } from './connect-appliance.ts';

export type WatchedAppliance = ApplianceSettings &
  Pick<Settings, 'polling' | 'limits'> & { readonly objectives: readonly FarmObjective[] | undefined };

export function watchedAppliances(settings: Settings, appliances = settings.appliances): readonly WatchedAppliance[] {
  const { polling, limits } = settings;
  return appliances.map((appliance) => ({
    ...appliance,
    polling,
    limits,
    objectives: objectivesOf(settings, appliance),
  }));
}

export function createStore(): MetricsStore {
  return createMetricsStore(applianceFamilies);
}

interface PollerOptions
  extends Pick<
    AppliancePollerParts,
    'store' | 'cron' | 'inProbeSlot' | 'log' | 'now' | 'random' | 'handover' | 'listeners' | 'isRequestLogEmpty'
  > {
  readonly resolver: HostResolver;
  readonly basePaths?: BasePaths | undefined;
  readonly counters?: AppliancePollerParts['counters'] | undefined;
  readonly wrap?: (collector: (typeof collectors)[number]) => (typeof collectors)[number];
  readonly onCall?: (report: CallReport) => void;
}

export function createPoller(
  appliance: WatchedAppliance,
  {
    resolver,
    basePaths,
    counters = createCounters(appliance.name),
    wrap = (each) => each,
    onCall,
    ...options
  }: PollerOptions,
): AppliancePoller {
  const { name, url, labels, objectives, vip, compact, polling, limits } = appliance;
  return new AppliancePoller({
    ...options,
    name,
    url: url.origin,
    labels,
    objectives,
    watches: (farm) => watchesFarm(appliance, farm),
    vip,
    compact,
    collectors: collectors.flatMap((collector) => {
      const chosen = appliance.collectors[collector.name];
      if (!chosen?.enabled) return [];
      return { collector: wrap(collector), schedule: chosen.schedule, maxStaleMs: chosen.maxStaleMs };
    }),
    connect: (onOwnCall) =>
      connectAppliance({
        appliance,
        settings: appliance,
        resolver,
        basePaths,
        now: options.now,
        onCall(report) {
          onCall?.(report);
          onOwnCall(report);
        },
      }),
    polling,
    maxSeries: limits.seriesPerAppliance,
    maxBytes: storedReplies * limits.bodyBytes,
    counters,
  });
}
