import type { Family } from './family.ts';
import { type Deflated, deflate, joinDeflated } from './gzip.ts';
import { type Chunk, createPage, type Format, type Page, type Representation } from './page.ts';
import { type FamilySize, inFormat, type FilledRegistry, renderHeader, renderLines } from './render.ts';

/** Holds the finished text of all appliances and joins it into pages, family by family. */
export interface MetricsStore {
  /** Sets the appliances and their order on a page. Appliances that stay keep what they have, except those in `emptied`. */
  arrange(appliances: readonly string[], emptied?: ReadonlySet<string>): void;
  /** Replaces what an appliance has under this key. It is rendered at once, and every later page has it. */
  put(appliance: string, key: string, reading: FilledRegistry): void;
  remove(appliance: string, key: string): void;
  /** Removes the families of a reading that are not allowed; returns how many series that were. */
  restrict(appliance: string, key: string, allows: (family: Family) => boolean): number;
  /** Series of an appliance, without those under the keys left out. */
  series(appliance: string, except?: readonly string[]): number;
  /** Returns all that was put before, of all appliances or of those named. */
  page(form: Representation, appliances?: ReadonlySet<string>): Promise<Page>;
}

/** Lines of one family from one reading. */
interface Lines {
  readonly text: string;
  readonly deflated: Deflated;
}

/** Text of one appliance. */
interface ApplianceText {
  /** What each key shows, rendered or not yet. */
  readonly shown: Map<string, Shown>;
  /** Lines by family and key, in the order in which the keys were put first; undefined until they are rendered. */
  readonly lines: Map<Family, Map<string, Lines | undefined>>;
  /** The cache of appliance × family: all lines of a family, joined at the first page that needs them. */
  readonly chunks: Map<Family, Chunk | undefined>;
}

interface Shown {
  /** Differs with every put. */
  readonly token: object;
  readonly families: readonly FamilySize[];
}

type Headers = readonly (readonly [Family, Readonly<Record<Format, Chunk>>])[];

/** `families` gives the order on a page. */
export function createMetricsStore(families: readonly Family[]): MetricsStore {
  const headers = Promise.all(families.map(headersOf));
  let texts: ReadonlyMap<string, ApplianceText> = new Map();
  const rendering = new Set<Promise<void>>();
  /** The cache of pages of all appliances; emptied by every change. */
  const pages = new Map<string, Page>();

  function changed(text: ApplianceText, family: Family): void {
    text.chunks.delete(family);
    pages.clear();
  }

  function drop(text: ApplianceText, family: Family, key: string): void {
    if (text.lines.get(family)?.delete(key)) changed(text, family);
  }

  function set(text: ApplianceText, family: Family, key: string, lines: string): void {
    const ofFamily = linesOf(text, family);
    if (ofFamily.get(key)?.text === lines) return;
    ofFamily.set(key, { text: lines, deflated: deflate(lines) });
    changed(text, family);
  }

  async function render(text: ApplianceText, key: string, token: object, reading: FilledRegistry): Promise<void> {
    const names = reading.families.map(({ family }) => family.name);
    const rendered = await Promise.all(names.map((name) => renderLines(reading.registry, name)));
    const shown = text.shown.get(key);
    // A newer reading has taken its place, or it was removed.
    if (shown?.token !== token) return;
    const allowed = new Set(shown.families.map(({ family }) => family));
    for (const family of text.lines.keys()) if (!allowed.has(family)) drop(text, family, key);
    for (const [index, { family }] of reading.families.entries()) {
      const lines = rendered[index] ?? '';
      if (lines === '') drop(text, family, key);
      else if (allowed.has(family)) set(text, family, key, lines);
    }
  }

  function build({ format, encoding }: Representation, known: Headers, chosen: readonly ApplianceText[]): Page {
    const chunks: Chunk[] = [];
    for (const [family, header] of known) {
      const ofFamily = chosen.flatMap((text) => chunkOf(text, family) ?? []);
      if (ofFamily.length > 0) chunks.push(header[format], ...ofFamily);
    }
    return createPage(chunks, encoding);
  }

  return {
    arrange(appliances, emptied = new Set()) {
      const before = texts;
      const kept = (name: string): ApplianceText | undefined => (emptied.has(name) ? undefined : before.get(name));
      texts = new Map(appliances.map((name) => [name, kept(name) ?? createText()]));
      pages.clear();
    },
    put(appliance, key, reading) {
      const text = texts.get(appliance);
      if (!text) return;
      const token = {};
      text.shown.set(key, { token, families: reading.families });
      for (const { family } of reading.families) {
        const lines = linesOf(text, family);
        if (!lines.has(key)) lines.set(key, undefined);
      }
      const rendered = render(text, key, token, reading).finally(() => rendering.delete(rendered));
      rendering.add(rendered);
    },
    remove(appliance, key) {
      const text = texts.get(appliance);
      if (!text?.shown.delete(key)) return;
      for (const family of text.lines.keys()) drop(text, family, key);
    },
    restrict(appliance, key, allows) {
      const text = texts.get(appliance);
      const shown = text?.shown.get(key);
      const refused = shown?.families.filter(({ family }) => !allows(family)) ?? [];
      if (!text || !shown || refused.length === 0) return 0;
      text.shown.set(key, { ...shown, families: shown.families.filter(({ family }) => allows(family)) });
      for (const { family } of refused) drop(text, family, key);
      return totalSeries(refused);
    },
    series(appliance, except = []) {
      let total = 0;
      for (const [key, { families: shown }] of texts.get(appliance)?.shown ?? [])
        if (!except.includes(key)) total += totalSeries(shown);
      return total;
    },
    async page(form, appliances) {
      const known = await headers;
      // All or nothing: readings that were put together come together.
      while (rendering.size > 0) await Promise.all(rendering);
      if (appliances)
        return build(
          form,
          known,
          [...texts].flatMap(([name, text]) => (appliances.has(name) ? text : [])),
        );
      const key = `${form.format} ${form.encoding}`;
      const page = pages.get(key) ?? build(form, known, [...texts.values()]);
      pages.set(key, page);
      return page;
    },
  };
}

function createText(): ApplianceText {
  return { shown: new Map(), lines: new Map(), chunks: new Map() };
}

function linesOf(text: ApplianceText, family: Family): Map<string, Lines | undefined> {
  const lines = text.lines.get(family) ?? new Map<string, Lines | undefined>();
  text.lines.set(family, lines);
  return lines;
}

function chunkOf(text: ApplianceText, family: Family): Chunk | undefined {
  if (!text.chunks.has(family))
    text.chunks.set(family, joinLines([...linesOf(text, family).values()].filter((lines) => lines !== undefined)));
  return text.chunks.get(family);
}

function joinLines(lines: readonly Lines[]): Chunk | undefined {
  if (lines.length === 0) return undefined;
  const deflated = joinDeflated(lines.map((each) => each.deflated));
  let text: Buffer | undefined;
  return {
    deflated,
    // Most scrapes are compressed: the text is joined when it is asked for.
    text: () => (text ??= bytesOf(lines.map((each) => each.text).join(''), deflated.size)),
  };
}

/** Memory of its own: a short buffer would otherwise keep a block of 64 kB with others that are long gone. */
function bytesOf(text: string, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  bytes.write(text);
  return bytes;
}

async function headersOf(family: Family): Promise<Headers[number]> {
  const classic = await renderHeader(family);
  return [family, { text: toChunk(classic), openmetrics: toChunk(inFormat(classic, 'openmetrics')) }];
}

function toChunk(text: string): Chunk {
  const bytes = Buffer.from(text);
  return { text: () => bytes, deflated: deflate(text) };
}

function totalSeries(families: readonly FamilySize[]): number {
  return families.reduce((total, { series }) => total + series, 0);
}
