import { activation } from './activation.ts';
import { appliance } from './appliance.ts';
import type { ApplianceCollector, Edition, FarmFact, Facts } from './collector.ts';
import { farms } from './farms.ts';
import { summary } from './summary.ts';

/** The newest data of a collector, however old; undefined before its first reading, and while it is off. */
export type Latest = <Data>(collector: ApplianceCollector<Data>) => Data | undefined;

/** Derives what collectors know of each other from their newest data. */
export function applianceFacts(latest: Latest): Facts {
  const description = latest(appliance);
  const activated = latest(activation);
  return {
    farms: listedFarms(latest),
    edition: editionOf(description?.edition) ?? activated?.edition,
    version: description?.version,
    licensed: activated?.licensed,
    activationEndSeconds: activated?.notAfterSeconds,
  };
}

/** The list with states, else the summary, which has none. */
function listedFarms(latest: Latest): readonly FarmFact[] | undefined {
  const listed = latest(farms)?.farms;
  if (listed) return listed.map(({ name, profile, state }) => ({ name, profile, status: state }));
  return latest(summary)?.farms.map(({ name, profile }) => ({ name, profile: profile ?? '', status: '' }));
}

function editionOf(word: string | undefined): Edition | undefined {
  return word === 'community' || word === 'enterprise' ? word : undefined;
}
