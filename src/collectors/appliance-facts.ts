import { activation } from './activation.ts';
import { appliance } from './appliance.ts';
import type { ApplianceCollector, Edition, Facts } from './collector.ts';
import { farms } from './farms.ts';
import { summary } from './summary.ts';
import { vip } from './vip.ts';

/**
 * Derives what collectors know of each other from the newest data of each, by name, however old it
 * is.
 */
export function applianceFacts(newest: ReadonlyMap<string, unknown>): Facts {
  // Only the data of this very collector is stored under its name.
  const latest = <Data>({ name }: ApplianceCollector<Data>): Data | undefined => newest.get(name) as Data | undefined;
  const description = latest(appliance);
  const activated = latest(activation);
  const probed = latest(vip);
  return {
    // The list with states, else the summary, which has none.
    farms:
      latest(farms)?.farms ??
      latest(summary)?.farms.map(({ name, profile }) => ({ name, profile: profile ?? '', state: 'unknown' })),
    edition: editionOf(description?.edition) ?? activated?.edition,
    product: description?.product,
    version: description?.version,
    licensed: activated?.licensed,
    activationEndSeconds: activated?.notAfterSeconds,
    answersSinceMs:
      probed && new Map(probed.flatMap(({ farm, answersSinceMs: atMs }) => (atMs === undefined ? [] : [[farm, atMs]]))),
  };
}

function editionOf(word: string | undefined): Edition | undefined {
  return word === 'community' || word === 'enterprise' ? word : undefined;
}
