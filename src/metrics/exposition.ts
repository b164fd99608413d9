import type { Family } from './family.ts';
import { createGroup, type Group } from './group.ts';
import { createPacker, type Finish } from './gzip.ts';
import { createHolding, type Holding } from './holding.ts';
import { joinJoints, type Joint } from './joint.ts';
import { createPage, type Format, headersOf, type Page, type Representation } from './page.ts';
import { type Chunk, toChunks } from './piece.ts';
import type { FamilySamples } from './samples.ts';

/** Holds the finished text of all appliances and joins it into pages, family by family. */
export interface Exposition {
  /** Which appliances there are, in their order on the page. Those that stay keep what they hold, but for those that begin anew. */
  arrange(appliances: readonly string[], anew?: ReadonlySet<string>): void;
  /** Replaces everything that one part of an appliance (a collector, or one farm's share of it) had on the page; compressed, unless told otherwise. */
  show(appliance: string, part: string, families: readonly FamilySamples[], finish?: Finish): void;
  /** The same with finished chunks. */
  put(appliance: string, part: string, chunks: readonly Chunk[]): void;
  /** What a part has on the page. */
  chunks(appliance: string, part: string): readonly Chunk[];
  remove(appliance: string, part: string): void;
  /** Series that an appliance holds. */
  series(appliance: string): number;
  /** All appliances, or those named. The same object comes back until something changes. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
  /** Joins what changed, so that the next page of all appliances finds it done; each step takes a fraction of a millisecond. */
  joinAhead(wanted: { readonly texts: boolean }): Iterable<void>;
  /** The same for a page of this appliance. */
  joinAheadOf(appliance: string): Iterable<void>;
  /** A page of this appliance, joined into one: who sends it in this form has nothing to put together. */
  finishedPage(appliance: string, form: Representation): Page;
}

/** Appliances that follow each other, and what joins them. */
interface Section {
  readonly holdings: readonly Holding[];
  readonly group: Group;
}

interface Position {
  /** In the order on the page. */
  readonly index: number;
  readonly holding: Holding;
  readonly group: Group;
}

/** A change joins the lines of so many appliances anew, and a page as many groups as there are: both stay small up to thousands. */
const groupSize = 32;

/** `families` gives the order on the page. */
export function createExposition(parts: { families: readonly Family[]; appliances: readonly string[] }): Exposition {
  const headers = parts.families.map((family) => ({ family, header: headersOf(family) }));
  const packer = createPacker();
  const whole = new Map<Format, Page>();
  let places: ReadonlyMap<string, Position> = new Map();
  let sections: readonly Section[] = [];
  arrange(parts.appliances);

  function arrange(appliances: readonly string[], anew: ReadonlySet<string> = new Set()): void {
    const before = places;
    const next = new Map<string, Position>();
    const nextSections: Section[] = [];
    for (let start = 0; start < appliances.length; start += groupSize) {
      const names = appliances.slice(start, start + groupSize);
      const holdings = names.map((name) => (anew.has(name) ? undefined : before.get(name)?.holding) ?? createHolding());
      const section = sectionOf(holdings, nextSections.length);
      for (const [index, holding] of holdings.entries())
        next.set(names[index] ?? '', { index: start + index, holding, group: section.group });
      nextSections.push(section);
    }
    places = next;
    if (haveSame(nextSections, sections)) return;
    sections = nextSections;
    whole.clear();
  }

  /** The one of before where nothing of it differs: joining anew what stays takes its time. */
  function sectionOf(holdings: readonly Holding[], index: number): Section {
    const before = sections[index];
    return before && haveSame(holdings, before.holdings)
      ? before
      : { holdings, group: createGroup(parts.families, holdings) };
  }

  function put(appliance: string, part: string, chunks: readonly Chunk[]): void {
    const place = places.get(appliance);
    const families = place?.holding.put(part, chunks) ?? [];
    if (families.length === 0) return;
    place?.group.changed(families);
    whole.clear();
  }

  function jointsOf(format: Format, sources: readonly (Holding | Group)[]): Joint[] {
    const joints: Joint[] = [];
    for (const { family, header } of headers) {
      let isEmpty = true;
      for (const source of sources) {
        const lines = source.joint(family);
        if (!lines) continue;
        if (isEmpty) joints.push(header[format]);
        isEmpty = false;
        joints.push(lines);
      }
    }
    return joints;
  }

  function wholePage(format: Format): Page {
    const groups = sections.map(({ group }) => group);
    const page = whole.get(format) ?? createPage(jointsOf(format, groups));
    whole.set(format, page);
    return page;
  }

  const chunksOf = (appliance: string, part: string): readonly Chunk[] =>
    places.get(appliance)?.holding.chunks(part) ?? [];

  return {
    arrange,
    show: (appliance, part, shown, finish = packer) =>
      put(appliance, part, toChunks(shown, chunksOf(appliance, part), finish)),
    put,
    chunks: chunksOf,
    remove: (appliance, part) => put(appliance, part, []),
    series: (appliance) => places.get(appliance)?.holding.series ?? 0,
    page(format, appliances) {
      if (!appliances) return wholePage(format);
      const chosen = [...appliances]
        .flatMap((appliance) => places.get(appliance) ?? [])
        .toSorted((one, other) => one.index - other.index);
      const holdings = chosen.map(({ holding }) => holding);
      return createPage(jointsOf(format, holdings));
    },
    *joinAhead(wanted) {
      for (const { group } of sections) yield* group.joinAhead(wanted);
    },
    joinAheadOf: (appliance) => places.get(appliance)?.holding.joinAhead() ?? [],
    finishedPage(appliance, { format, compressed }) {
      const place = places.get(appliance);
      const all = joinJoints(jointsOf(format, place ? [place.holding] : []));
      if (!compressed) all.texts();
      return createPage([all]);
    },
  };
}

/** Whether two lists have the very same things in the same order. */
function haveSame<Thing>(one: readonly Thing[], other: readonly Thing[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
