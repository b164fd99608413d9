import { activation } from './activation.ts';
import { appliance } from './appliance.ts';
import type { ApplianceCollector, Edition, FarmFact, Facts } from './collector.ts';
import { farms } from './farms.ts';
import { summary } from './summary.ts';

type Latest = <Data>(collector: ApplianceCollector<Data>) => Data | undefined;

/**
 * Derives what collectors know of each other from the newest data of each, by name, however old it
 * is.
 */
export function applianceFacts(newest: ReadonlyMap<string, unknown>): Facts {
  // Only the data of this very collector is stored under its name.
  const latest: Latest = <Data>({ name }: ApplianceCollector<Data>) => newest.get(name) as Data | undefined;
  const description = latest(appliance);
  const activated = latest(activation);
  return {
    farms: listedFarms(latest),
    edition: editionOf(description?.edition) ?? activated?.edition,
    product: description?.product,
    version: description?.version,
    licensed: activated?.licensed,
    activationEndSeconds: activated?.notAfterSeconds,
  };
}

/** Returns the list with states, else the summary, which has none. */
function listedFarms(latest: Latest): readonly FarmFact[] | undefined {
  const listed = latest(farms)?.farms;
  if (listed) return listed.map(({ name, profile, state }) => ({ name, profile, status: state }));
  return latest(summary)?.farms.map(({ name, profile }) => ({ name, profile: profile ?? '', status: '' }));
}

function editionOf(word: string | undefined): Edition | undefined {
  return word === 'community' || word === 'enterprise' ? word : undefined;
}
