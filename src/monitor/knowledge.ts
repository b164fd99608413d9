import type { Facts } from '../collectors/collector.ts';

/** What the collectors of one appliance have found out, and what follows when it changes. */
export interface Knowledge {
  /** Live: the collectors see changes as they happen. */
  readonly facts: Readonly<Facts>;
  readonly learn: (news: Partial<Facts>) => void;
}

export interface KnowledgeParts {
  /** What is known already. */
  readonly facts: Facts;
  readonly onVersionChanged: (from: string, to: string | undefined) => void;
  readonly onFarmGone: (farm: string) => void;
  /** The appliance had refused everything for want of a licence and does so no longer. */
  readonly onLicensedAgain: () => void;
}

export function createKnowledge({ facts, onVersionChanged, onFarmGone, onLicensedAgain }: KnowledgeParts): Knowledge {
  return {
    facts,
    learn(news) {
      const before = { ...facts };
      Object.assign(facts, news);
      if (before.version !== undefined && facts.version !== before.version)
        onVersionChanged(before.version, facts.version);
      const listed = new Set(facts.farms?.map(({ name }) => name));
      for (const { name } of before.farms ?? []) if (!listed.has(name)) onFarmGone(name);
      if (before.licensed === false && facts.licensed) onLicensedAgain();
    },
  };
}
