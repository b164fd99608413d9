import { applianceFacts } from '../collectors/appliance-facts.ts';
import type { ApplianceCollector, Facts } from '../collectors/collector.ts';

/** What the collectors of one appliance know of each other, and what follows when it changes. */
export interface KnownFacts {
  readonly current: Facts;
  /** Applies the newest data of a collector. */
  update<Data>(collector: ApplianceCollector<Data>, data: Data): void;
}

export interface KnownFactsParts {
  /** The newest data by collector, also of the poller before. */
  readonly newest: Map<string, unknown>;
  readonly onVersionChanged: (from: string, to: string | undefined) => void;
  readonly onFarmGone: (farm: string) => void;
  /** The appliance had refused everything for want of a licence and does so no longer. */
  readonly onLicensedAgain: () => void;
}

export function createKnownFacts(parts: KnownFactsParts): KnownFacts {
  const { newest, onVersionChanged, onFarmGone, onLicensedAgain } = parts;
  let current = applianceFacts(newest);

  return {
    get current() {
      return current;
    },
    update({ name }, data) {
      const before = current;
      newest.set(name, data);
      current = applianceFacts(newest);
      if (before.version !== undefined && current.version !== before.version)
        onVersionChanged(before.version, current.version);
      const listed = new Set(current.farms?.map((farm) => farm.name));
      for (const farm of before.farms ?? []) if (!listed.has(farm.name)) onFarmGone(farm.name);
      if (before.licensed === false && current.licensed === true) onLicensedAgain();
    },
  };
}
