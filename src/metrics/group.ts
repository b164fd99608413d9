import type { Family } from './family.ts';
import type { Holding } from './holding.ts';
import { joinJoints, type Joint } from './joint.ts';

/** Some appliances that follow each other on the page, joined family by family. */
export interface Group {
  /** The lines of these families are others now. */
  changed(families: Iterable<Family>): void;
  /** The newest lines of a family, undefined where there are none. Joined when first asked for after a change. */
  joint(family: Family): Joint | undefined;
  /** Joins what changed, a family of one appliance at each step; without texts the compressed bytes alone. */
  joinAhead(wanted: { readonly texts: boolean }): Iterable<void>;
}

export function createGroup(families: readonly Family[], holdings: readonly Holding[]): Group {
  const joints = new Map<Family, Joint>();
  const stale = new Set<Family>(families);
  /** Those whose texts were not joined ahead since they changed. */
  const textless = new Set<Family>(families);

  function joint(family: Family): Joint | undefined {
    if (stale.delete(family)) {
      const lines = holdings.flatMap((holding) => holding.joint(family) ?? []);
      if (lines.length > 0) joints.set(family, joinJoints(lines));
      else joints.delete(family);
    }
    return joints.get(family);
  }

  return {
    changed(others) {
      for (const family of others) {
        stale.add(family);
        textless.add(family);
      }
    },
    joint,
    *joinAhead({ texts }) {
      // What changes meanwhile is left to the next time, or this might never end.
      for (const family of new Set(texts ? textless : stale)) {
        if (texts) textless.delete(family);
        for (const holding of holdings) {
          const ofOne = holding.joint(family);
          if (texts) ofOne?.texts();
          yield;
        }
        const ofAll = joint(family);
        if (texts) ofAll?.texts();
        yield;
      }
    },
  };
}
