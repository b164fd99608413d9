import type { Family } from './family.ts';
import { createGroup, type Group } from './group.ts';
import { createHolding, type Holding } from './holding.ts';
import { createPage, type Format, headersOf, type Page } from './page.ts';
import type { Chunk } from './piece.ts';

/** Holds the finished text of all appliances and joins it into pages, family by family. */
export interface Exposition {
  /** Which appliances there are, in their order on the page. Those that stay keep what they hold, the others are dropped. */
  arrange(appliances: readonly string[]): void;
  /** Replaces everything that one part of an appliance (a collector, or one farm's share of it) had on the page. */
  put(appliance: string, part: string, chunks: readonly Chunk[]): void;
  /** What a part has on the page. */
  chunks(appliance: string, part: string): readonly Chunk[];
  remove(appliance: string, part: string): void;
  /** Series that an appliance holds, all parts, or all but one. */
  series(appliance: string, exceptPart?: string): number;
  /** All appliances, or those named. The same object comes back until something changes. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
  /** Joins what changed since the last page, so that the next one finds it done; each step takes a fraction of a millisecond. */
  joinAhead(): Iterable<void>;
}

interface Place {
  readonly holding: Holding;
  readonly group: Group;
}

/** A change joins the lines of so many appliances anew, and a page as many groups as there are: both stay small up to thousands. */
const groupSize = 32;

/** `families` gives the order on the page. */
export function createExposition(parts: { families: readonly Family[]; appliances: readonly string[] }): Exposition {
  const headers = parts.families.map((family) => ({ family, header: headersOf(family) }));
  const whole = new Map<Format, Page>();
  let places: ReadonlyMap<string, Place> = new Map();
  let groups: readonly Group[] = [];
  arrange(parts.appliances);

  function arrange(appliances: readonly string[]): void {
    const before = places;
    const next = new Map<string, Place>();
    const nextGroups: Group[] = [];
    for (let start = 0; start < appliances.length; start += groupSize) {
      const names = appliances.slice(start, start + groupSize);
      const holdings = names.map((name) => before.get(name)?.holding ?? createHolding());
      const group = createGroup(parts.families, holdings);
      for (const [index, holding] of holdings.entries()) next.set(names[index] ?? '', { holding, group });
      nextGroups.push(group);
    }
    places = next;
    groups = nextGroups;
    whole.clear();
  }

  function put(appliance: string, part: string, chunks: readonly Chunk[]): void {
    const place = places.get(appliance);
    const families = place?.holding.put(part, chunks) ?? [];
    if (families.length === 0) return;
    place?.group.changed(families);
    whole.clear();
  }

  function joinPage(format: Format, sources: readonly (Holding | Group)[]): Page {
    return createPage(
      headers.flatMap(({ family, header }) => {
        const lines = sources.flatMap((source) => source.joint(family) ?? []);
        return lines.length > 0 ? [header[format], ...lines] : [];
      }),
    );
  }

  return {
    arrange,
    put,
    chunks: (appliance, part) => places.get(appliance)?.holding.chunks(part) ?? [],
    remove: (appliance, part) => put(appliance, part, []),
    series: (appliance, exceptPart) => places.get(appliance)?.holding.series(exceptPart) ?? 0,
    page(format, appliances) {
      if (appliances) {
        const chosen = [...places].filter(([appliance]) => appliances.has(appliance));
        return joinPage(
          format,
          chosen.map(([, { holding }]) => holding),
        );
      }
      const page = whole.get(format) ?? joinPage(format, groups);
      whole.set(format, page);
      return page;
    },
    *joinAhead() {
      for (const group of groups) yield* group.joinAhead();
    },
  };
}
