import type { Family } from './family.ts';
import { joinPacked, pack, type Packed } from './gzip.ts';
import type { FamilySamples } from './samples.ts';

/** Prometheus text 0.0.4, or OpenMetrics 1.0. Only the headers of counters and the last line differ. */
export type Format = 'text' | 'openmetrics';

/** Finished bytes, a whole page or a piece of one, plain and compressed. */
export interface Page {
  readonly text: Buffer;
  readonly packed: Packed;
}

/** Finished lines of one family from one part of one appliance. */
export interface Chunk extends Page {
  readonly family: Family;
  readonly series: number;
}

/** Turns rendered samples into bytes once, when a reading is taken, so that a scrape only joins. */
export function toChunks(families: readonly FamilySamples[]): Chunk[] {
  return families.map(({ family, series, text }) => ({ family, series, ...toPage(text) }));
}

/** Finishes a text that stands on pages of its own. */
export function toPage(text: string): Page {
  const bytes = Buffer.from(text);
  return { text: bytes, packed: pack(bytes) };
}

/** Holds the finished text of all appliances and joins it into pages, family by family. */
export interface Exposition {
  /** Replaces everything that one part of an appliance (a collector, or one farm's share of it) had on the page. */
  put(appliance: string, part: string, chunks: readonly Chunk[]): void;
  remove(appliance: string, part: string): void;
  /** Series that an appliance holds, all parts, or all but one. */
  series(appliance: string, exceptPart?: string): number;
  /** All appliances, or those named. The same object comes back until something changes. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
}

/** `families` gives the order on the page; `appliances` the order within a family. */
export function createExposition(parts: { families: readonly Family[]; appliances: readonly string[] }): Exposition {
  const headers = new Map(parts.families.map((family) => [family, familyHeaders(family)]));
  const order = new Map(parts.families.map((family, index) => [family, index]));
  const held = new Map<string, Map<string, readonly Chunk[]>>(parts.appliances.map((name) => [name, new Map()]));
  const whole = new Map<Format, Page>();

  return {
    put(appliance, part, chunks) {
      held.get(appliance)?.set(part, chunks);
      whole.clear();
    },
    remove(appliance, part) {
      if (held.get(appliance)?.delete(part)) whole.clear();
    },
    series(appliance, exceptPart) {
      let total = 0;
      for (const [part, chunks] of held.get(appliance) ?? []) {
        if (part !== exceptPart) for (const chunk of chunks) total += chunk.series;
      }
      return total;
    },
    page(format, appliances) {
      const kept = appliances ? undefined : whole.get(format);
      if (kept) return kept;
      const page = join(format, appliances);
      if (!appliances) whole.set(format, page);
      return page;
    },
  };

  function join(format: Format, appliances: ReadonlySet<string> | undefined): Page {
    const byFamily: Chunk[][] = parts.families.map(() => []);
    for (const [appliance, shares] of held) {
      if (appliances && !appliances.has(appliance)) continue;
      for (const chunks of shares.values())
        for (const chunk of chunks) byFamily[order.get(chunk.family) ?? -1]?.push(chunk);
    }
    const pieces: Page[] = [];
    for (const [index, family] of parts.families.entries()) {
      const chunks = byFamily[index] ?? [];
      const header = headers.get(family)?.[format];
      if (chunks.length > 0 && header) pieces.push(header, ...chunks);
    }
    return joinPages(pieces);
  }
}

/** One page of many pieces; each encoding is joined when it is first asked for, since most scrapers take only one. */
function joinPages(pieces: readonly Page[]): Page {
  let text: Buffer | undefined;
  let packed: Packed | undefined;
  return {
    get text() {
      return (text ??= Buffer.concat(pieces.map((piece) => piece.text)));
    },
    get packed() {
      return (packed ??= joinPacked(pieces.map((piece) => piece.packed)));
    },
  };
}

function familyHeaders(family: Family): Readonly<Record<Format, Page>> {
  const text = headerText(family, family.name);
  // OpenMetrics names the family of a counter without the suffix that its samples carry.
  const openmetrics = headerText(family, family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name);
  return { text: toPage(text), openmetrics: toPage(openmetrics) };
}

function headerText(family: Family, name: string): string {
  const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${family.type}\n`;
}
