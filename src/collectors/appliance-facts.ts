import { activationCollector, editionOf } from './activation.ts';
import { applianceCollector } from './appliance.ts';
import type { ApplianceWideCollector, Facts } from './collector.ts';
import { farmsCollector } from './farms.ts';
import { summaryCollector } from './summary.ts';
import { vipCollector } from './vip.ts';

/**
 * Derives what collectors know of each other from the newest data of each, by name, however old it
 * is.
 */
export function applianceFacts(latest: ReadonlyMap<string, unknown>): Facts {
  const dataBy = <Data>(collector: ApplianceWideCollector<Data>): Data | undefined => dataOf(latest, collector);
  const description = dataBy(applianceCollector);
  const activation = dataBy(activationCollector);
  const probed = dataBy(vipCollector);
  return {
    // The list with states, else the summary, which has none.
    farms:
      dataBy(farmsCollector)?.farms ??
      dataBy(summaryCollector)?.farms.map(({ name, profile }) => ({ name, profile: profile ?? '', state: 'unknown' })),
    edition: editionOf(description?.edition) ?? activation?.edition,
    product: description?.product,
    version: description?.version,
    isActivated: activation?.isActivated,
    activationEndSeconds: activation?.notAfterSeconds,
    answersSinceElapsedMs:
      probed &&
      new Map(probed.flatMap(({ farm, answersSinceElapsedMs: since }) => (since === undefined ? [] : [[farm, since]]))),
  };
}

/** Returns the newest data of a collector, by name; undefined without any. */
export function dataOf<Data>(
  latest: ReadonlyMap<string, unknown>,
  { name }: ApplianceWideCollector<Data>,
): Data | undefined {
  // Only what this collector returned is kept under its name.
  return latest.get(name) as Data | undefined;
}
