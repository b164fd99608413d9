import type { Family } from './family.ts';
import { joinPacked, pack, type Packed } from './gzip.ts';
import { ownBytes } from './own-bytes.ts';
import type { FamilySamples } from './samples.ts';

/** Prometheus text 0.0.4, or OpenMetrics 1.0. Only the headers of counters and the last line differ. */
export type Format = 'text' | 'openmetrics';

/** Finished bytes of a part of a page, plain and compressed. */
export interface Piece {
  readonly text: Buffer;
  readonly packed: Packed;
}

/** Finished lines of one family from one part of one appliance. */
export interface Chunk extends Piece {
  readonly family: Family;
  readonly series: number;
}

/** Finished bytes in the order of the families, for one scrape or for many. */
export interface Page {
  /** What to send, in order; pages share their pieces, so that 10 MB of text are not copied to change a fortieth. */
  readonly pieces: readonly Piece[];
  /** All pieces compressed, joined when first asked for. */
  readonly packed: Packed;
  /** All pieces in one buffer, joined when first asked for. */
  readonly text: Buffer;
}

/** Turns rendered samples into bytes once, when a reading is taken, so that a scrape only joins. */
export function toChunks(families: readonly FamilySamples[]): Chunk[] {
  return families.map(({ family, series, text }) => ({ family, series, ...toPiece(text) }));
}

/** Finishes a text. */
export function toPiece(text: string): Piece {
  const bytes = ownBytes(text);
  return { text: bytes, packed: pack(bytes) };
}

/** Holds the finished text of all appliances and joins it into pages, family by family. */
export interface Exposition {
  /** Which appliances there are, in the order within a family; what is held of others is dropped. None at first. */
  arrange(appliances: readonly string[]): void;
  /** Replaces everything that one part of an appliance (a collector, or one farm's share of it) had on the page. */
  put(appliance: string, part: string, chunks: readonly Chunk[]): void;
  remove(appliance: string, part: string): void;
  /** Series that an appliance holds, all parts, or all but one. */
  series(appliance: string, exceptPart?: string): number;
  /** All appliances, or those named. The same object comes back until something changes. */
  page(format: Format, appliances?: ReadonlySet<string>): Page;
}

interface Part {
  readonly chunks: readonly Chunk[];
  readonly series: number;
}

interface Holding {
  readonly parts: Map<string, Part>;
  /** Of all parts; kept up to date, since it is asked for at every reading. */
  series: number;
  /** The parts joined to one piece a family; undefined after a change, until a page needs it. */
  joined: ReadonlyMap<Family, Piece> | undefined;
}

/** `families` gives the order on the page. */
export function createExposition(parts: { families: readonly Family[]; appliances: readonly string[] }): Exposition {
  const headers = parts.families.map((family) => ({ family, header: familyHeaders(family) }));
  let held: ReadonlyMap<string, Holding> = new Map();
  const whole = new Map<Format, Page>();

  function arrange(appliances: readonly string[]): void {
    const before = held;
    held = new Map(
      appliances.map((name) => [name, before.get(name) ?? { parts: new Map(), series: 0, joined: undefined }]),
    );
    whole.clear();
  }
  arrange(parts.appliances);

  return {
    arrange,
    put(appliance, part, chunks) {
      const holding = held.get(appliance);
      if (!holding) return;
      const series = chunks.reduce((sum, chunk) => sum + chunk.series, 0);
      holding.series += series - seriesOfPart(holding, part);
      holding.parts.set(part, { chunks, series });
      changed(holding);
    },
    remove(appliance, part) {
      const holding = held.get(appliance);
      if (!holding?.parts.has(part)) return;
      holding.series -= seriesOfPart(holding, part);
      holding.parts.delete(part);
      changed(holding);
    },
    series(appliance, exceptPart) {
      const holding = held.get(appliance);
      if (!holding) return 0;
      return holding.series - (exceptPart === undefined ? 0 : seriesOfPart(holding, exceptPart));
    },
    page(format, appliances) {
      const kept = appliances ? undefined : whole.get(format);
      if (kept) return kept;
      const page = joinPage(format, appliances);
      if (!appliances) whole.set(format, page);
      return page;
    },
  };

  function changed(holding: Holding): void {
    holding.joined = undefined;
    whole.clear();
  }

  function joinPage(format: Format, appliances: ReadonlySet<string> | undefined): Page {
    const chosen = [...held].filter(([appliance]) => appliances?.has(appliance) ?? true).map(([, holding]) => holding);
    const shares = chosen.map((holding) => (holding.joined ??= joinByFamily(holding.parts.values())));
    return createPage(
      headers.flatMap(({ family, header }) => {
        const lines = shares.flatMap((share) => share.get(family) ?? []);
        return lines.length > 0 ? [header[format], ...lines] : [];
      }),
    );
  }
}

function seriesOfPart({ parts }: Holding, part: string): number {
  return parts.get(part)?.series ?? 0;
}

function joinByFamily(parts: Iterable<Part>): ReadonlyMap<Family, Piece> {
  const byFamily = Map.groupBy(
    [...parts].flatMap(({ chunks }) => chunks),
    ({ family }) => family,
  );
  return new Map([...byFamily].map(([family, chunks]) => [family, joinPieces(chunks)]));
}

function joinPieces(pieces: readonly Piece[]): Piece {
  return {
    text: Buffer.concat(pieces.map(({ text }) => text)),
    packed: joinPacked(pieces.map(({ packed }) => packed)),
  };
}

function createPage(pieces: readonly Piece[]): Page {
  let text: Buffer | undefined;
  let packed: Packed | undefined;
  return {
    pieces,
    get packed() {
      return (packed ??= joinPacked(pieces.map((piece) => piece.packed)));
    },
    get text() {
      return (text ??= Buffer.concat(pieces.map((piece) => piece.text)));
    },
  };
}

function familyHeaders(family: Family): Readonly<Record<Format, Piece>> {
  const text = headerText(family, family.name);
  // OpenMetrics names the family of a counter without the suffix that its samples carry.
  const openmetrics = headerText(family, family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name);
  return { text: toPiece(text), openmetrics: toPiece(openmetrics) };
}

function headerText(family: Family, name: string): string {
  const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${family.type}\n`;
}
