import { setImmediate as nextTick } from 'node:timers/promises';
import type { Family } from './family.ts';
import {
  type Chunk,
  createPage,
  deflate,
  type Deflated,
  type Format,
  joinDeflated,
  type Page,
  type Representation,
} from './page.ts';
import { type FamilySize, inFormat, type FilledRegistry, renderHeader, renderLines, totalSeries } from './render.ts';

export type MetricsStore = ReturnType<typeof createMetricsStore>;

/**
 * Series that a reading may have to be rendered at once; a longer one is rendered family by family.
 */
const maxAtOnce = 2_000;

/** Lines of one family from one reading. */
interface Lines {
  readonly text: string;
  readonly deflated: Deflated;
}

type ApplianceText = ReturnType<typeof createApplianceText>;

interface Shown {
  /** Differs with every put. */
  readonly token: object;
  readonly families: readonly FamilySize[];
}

type Headers = readonly (readonly [Family, Readonly<Record<Format, Chunk>>])[];

/**
 * Holds the finished text of all appliances and joins it into expositions, family by family;
 * `families` is their order in an exposition.
 */
export function createMetricsStore(families: readonly Family[]) {
  const headers = Promise.all(families.map(headersOf));
  let texts: ReadonlyMap<string, ApplianceText> = new Map();
  const rendering = new Set<Promise<void>>();
  /** The cache of expositions of all appliances; emptied by every change. */
  const pages = new Map<string, Page>();
  const onChange = (): void => pages.clear();

  return {
    /**
     * Sets the appliances and their order in an exposition. Appliances that stay keep what they
     * have, except those in `emptied`.
     */
    arrange(appliances: readonly string[], emptied: ReadonlySet<string> = new Set()): void {
      const before = texts;
      const kept = (name: string): ApplianceText | undefined => (emptied.has(name) ? undefined : before.get(name));
      texts = new Map(appliances.map((name) => [name, kept(name) ?? createApplianceText(onChange)]));
      onChange();
    },
    /**
     * Replaces what an appliance has under this key. It is rendered at once, and every later
     * exposition has it.
     */
    put(appliance: string, key: string, reading: FilledRegistry): void {
      const text = texts.get(appliance);
      if (!text) return;
      const rendered = text.put(key, reading).finally(() => rendering.delete(rendered));
      rendering.add(rendered);
    },
    remove: (appliance: string, key: string): void => texts.get(appliance)?.remove(key),
    /** Removes the families of a reading that are not allowed; returns the number of series. */
    restrict: (appliance: string, key: string, allows: (family: Family) => boolean): number =>
      texts.get(appliance)?.restrict(key, allows) ?? 0,
    /** Returns the number of series of an appliance, without those under the keys left out. */
    series: (appliance: string, except: readonly string[] = []): number => texts.get(appliance)?.series(except) ?? 0,
    /**
     * Returns all that was put before, of all appliances or of those named; `isBare` leaves out the
     * labels of the configuration.
     */
    async page(form: Representation, appliances?: ReadonlySet<string>, isBare = false): Promise<Page> {
      const known = await headers;
      // All or nothing: readings that were put together come together.
      while (rendering.size > 0) await Promise.all(rendering);
      if (appliances)
        return build(
          form,
          known,
          [...texts].flatMap(([name, text]) => (appliances.has(name) ? text : [])),
          isBare,
        );
      const key = `${form.format} ${form.encoding}`;
      const page = pages.get(key) ?? build(form, known, [...texts.values()]);
      pages.set(key, page);
      return page;
    },
  };
}

function build(
  { format, encoding }: Representation,
  headers: Headers,
  chosen: readonly ApplianceText[],
  isBare = false,
): Page {
  const chunks: Chunk[] = [];
  for (const [family, header] of headers) {
    const ofFamily = chosen.flatMap((text) => text.chunk(family) ?? []);
    const shown =
      isBare && family.takesConfiguredLabels ? ofFamily.map((chunk) => withOwnLabels(chunk, family)) : ofFamily;
    if (ofFamily.length > 0) chunks.push(header[format], ...shown);
  }
  return createPage(chunks, encoding);
}

/** Removes labels that are not the family's: those of the configuration. */
function withOwnLabels(chunk: Chunk, { labels }: Family): Chunk {
  const own = new Set(['appliance', ...labels]);
  return toChunk(
    chunk
      .text()
      .toString()
      .replaceAll(/,(\w+)="(?:[^"\\]|\\.)*"/g, (pair, name: string) => (own.has(name) ? pair : '')),
  );
}

/** Holds the text of one appliance; see {@link MetricsStore}. */
function createApplianceText(onChange: () => void) {
  /** The families of each key, rendered or not yet. */
  const shown = new Map<string, Shown>();
  /**
   * Lines by family and key, in the order in which the keys were put first; undefined until they
   * are rendered.
   */
  const lines = new Map<Family, Map<string, Lines | undefined>>();
  /**
   * The cache of appliance × family: all lines of a family, joined at the first exposition that
   * needs them.
   */
  const chunks = new Map<Family, Chunk | undefined>();

  function linesOf(family: Family): Map<string, Lines | undefined> {
    const ofFamily = lines.get(family) ?? new Map<string, Lines | undefined>();
    lines.set(family, ofFamily);
    return ofFamily;
  }

  function changed(family: Family): void {
    chunks.delete(family);
    onChange();
  }

  function drop(family: Family, key: string): void {
    if (lines.get(family)?.delete(key)) changed(family);
  }

  function set(family: Family, key: string, text: string): void {
    if (text === '') return drop(family, key);
    if (linesOf(family).get(key)?.text === text) return;
    linesOf(family).set(key, { text, deflated: deflate(text) });
    changed(family);
  }

  return {
    async put(key: string, { registry, families }: FilledRegistry): Promise<void> {
      const token = {};
      shown.set(key, { token, families });
      // Reserves its position among the lines at once: readings are rendered in any order.
      for (const { family } of families) if (!linesOf(family).has(key)) linesOf(family).set(key, undefined);
      const isLong = totalSeries(families) > maxAtOnce;
      const texts: string[] = [];
      for (const { family } of families) {
        if (isLong) await nextTick();
        texts.push(await renderLines(registry, family.name));
      }
      const now = shown.get(key);
      // A newer reading has taken its place, or it was removed.
      if (now?.token !== token) return;
      const allowed = new Set(now.families.map(({ family }) => family));
      for (const family of lines.keys()) if (!allowed.has(family)) drop(family, key);
      for (const [index, { family }] of families.entries())
        if (allowed.has(family)) set(family, key, texts[index] ?? '');
    },
    remove(key: string): void {
      if (shown.delete(key)) for (const family of lines.keys()) drop(family, key);
    },
    restrict(key: string, allows: (family: Family) => boolean): number {
      const before = shown.get(key);
      const refused = before?.families.filter(({ family }) => !allows(family)) ?? [];
      if (!before || refused.length === 0) return 0;
      shown.set(key, { ...before, families: before.families.filter(({ family }) => allows(family)) });
      for (const { family } of refused) drop(family, key);
      return totalSeries(refused);
    },
    series(except: readonly string[]): number {
      let total = 0;
      for (const [key, { families }] of shown) if (!except.includes(key)) total += totalSeries(families);
      return total;
    },
    /** Returns all lines of a family, undefined if there are none. */
    chunk(family: Family): Chunk | undefined {
      if (!chunks.has(family))
        chunks.set(family, joinLines([...(lines.get(family)?.values() ?? [])].filter((each) => each !== undefined)));
      return chunks.get(family);
    },
  };
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

/** Returns bytes in separate memory: a short pooled buffer would keep a block of 64 kB alive. */
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
