// Keeps the finished text of all readings, and joins it into the page of a scrape. Families are
// written by prom-client once for each reading (render.ts), not once for each scrape. The store
// alone changes this text: pollers put and remove it by appliance and key. Several scrapes at the
// same time share one page, which every change discards. Read on in render.ts, page.ts and
// series-limit.ts.

import { setImmediate as nextTick } from 'node:timers/promises';
import type { Family } from './family.ts';
import { createPage, type Format, type Page, type Representation, type TextPart } from './page.ts';
import { type FamilySize, inFormat, type FilledRegistry, renderHeader, renderLines, totalSeries } from './render.ts';
import { divideLimit } from './series-limit.ts';

export type MetricsStore = ReturnType<typeof createMetricsStore>;

/**
 * Series that a reading may have to be rendered at once; a longer one is rendered family by family.
 */
const maxAtOnce = 2_000;

/** A reading of an appliance under its key. A newer one replaces it. */
interface StoredReading {
  /** All of its families, also those that are left out. */
  readonly families: readonly FamilySize[];
  /** The families that the limit allows, rendered or not yet. */
  allowed: readonly FamilySize[];
  /** The finished lines by family; empty until they are rendered. */
  lines: readonly FamilyLines[];
  /** Its turn when the limit is divided; undefined if it is not limited. */
  readonly rank: number | undefined;
}

/** The lines of a family, in the bytes of its reading: a buffer of its own would take more. */
interface FamilyLines extends TextPart {
  readonly family: Family;
}

/** The limit that a reading shares with the others of its appliance. */
interface Limit {
  readonly maxSeries: number;
  /** The lower, the earlier it gets its series when the limit does not suffice for all. */
  readonly rank: number;
}

/** The readings of one appliance, in the order in which their keys were put first. */
type StoredReadings = Map<string, StoredReading>;

/**
 * Holds the finished text of all appliances and joins it into expositions, family by family;
 * `families` is their order in an exposition.
 */
export function createMetricsStore(families: readonly Family[]) {
  const headers = Promise.all(families.map(headerOf));
  let appliances: ReadonlyMap<string, StoredReadings> = new Map();
  const rendering = new Set<Promise<void>>();
  /** The cache of expositions of all appliances; emptied by every change. */
  const pages = new Map<string, Promise<Page>>();

  return {
    /**
     * Sets the appliances and their order in an exposition. Appliances that stay keep what they
     * have, except those in `emptied`.
     */
    arrange(names: readonly string[], emptied: ReadonlySet<string> = new Set()): void {
      const before = appliances;
      const kept = (name: string): StoredReadings | undefined => (emptied.has(name) ? undefined : before.get(name));
      appliances = new Map(names.map((name) => [name, kept(name) ?? new Map()]));
      pages.clear();
    },
    /**
     * Replaces what an appliance has under this key. It is rendered at once, and every later
     * exposition has it, as far as the limit allows. Returns the number of series that are left out
     * now, of this reading and of others.
     */
    put(appliance: string, key: string, filled: FilledRegistry, limit?: Limit): number {
      const readings = appliances.get(appliance);
      if (!readings) return 0;
      const { families } = filled;
      const stored: StoredReading = { families, allowed: families, lines: [], rank: limit?.rank };
      readings.set(key, stored);
      pages.clear();
      const leftOut = limit ? applyLimit(readings, limit.maxSeries) : 0;
      const rendered = render(filled, stored).finally(() => rendering.delete(rendered));
      rendering.add(rendered);
      return leftOut;
    },
    remove(appliance: string, key: string): void {
      if (appliances.get(appliance)?.delete(key)) pages.clear();
    },
    /** Returns the numbers of series in the limited readings of an appliance. */
    series(appliance: string): { readonly shown: number; readonly leftOut: number } {
      const sums = { shown: 0, leftOut: 0 };
      for (const { families, allowed, rank } of appliances.get(appliance)?.values() ?? []) {
        if (rank === undefined) continue;
        sums.shown += totalSeries(allowed);
        sums.leftOut += totalSeries(families) - totalSeries(allowed);
      }
      return sums;
    },
    /**
     * Returns all that was put before, of all appliances or of those named; `isBare` leaves out the
     * labels of the configuration.
     */
    async page({ format, encoding }: Representation, names?: ReadonlySet<string>, isBare = false): Promise<Page> {
      const known = await headers;
      // All or nothing: readings that were put together come together.
      while (rendering.size > 0) await Promise.all(rendering);
      const chosen = [...appliances].flatMap(([name, readings]) => (!names || names.has(name) ? [readings] : []));
      const build = (): Promise<Page> => createPage(join(known, format, chosen, isBare), encoding);
      if (names) return await build();
      const key = `${format} ${encoding}`;
      const page = pages.get(key) ?? build();
      pages.set(key, page);
      return await page;
    },
  };
}

/** Leaves out the families that do not fit; returns the number of their series. */
function applyLimit(readings: StoredReadings, maxSeries: number): number {
  const quota = divideLimit(readings, maxSeries);
  let leftOut = 0;
  if (quota.allowsAll) return leftOut;
  for (const [key, reading] of readings) {
    if (reading.rank === undefined) continue;
    const allowed = reading.allowed.filter(({ family }) => quota.allows(key, family));
    if (allowed.length === reading.allowed.length) continue;
    leftOut += totalSeries(reading.allowed) - totalSeries(allowed);
    reading.allowed = allowed;
    reading.lines = reading.lines.filter(({ family }) => quota.allows(key, family));
  }
  return leftOut;
}

/** Renders a reading, and shows the families of it that are still allowed afterwards. */
async function render({ registry }: FilledRegistry, stored: StoredReading): Promise<void> {
  const families = stored.allowed;
  const isLong = totalSeries(families) > maxAtOnce;
  const texts: (readonly [Family, string])[] = [];
  for (const { family } of families) {
    if (isLong) await nextTick();
    texts.push([family, await renderLines(registry, family.name)]);
  }
  const allowedNow = new Set(stored.allowed.map(({ family }) => family));
  stored.lines = toBytes(texts.filter(([family, text]) => allowedNow.has(family) && text !== ''));
}

/** Returns bytes in a memory of their own: short buffers of the pool would keep all of it. */
function toBytes(texts: readonly (readonly [Family, string])[]): readonly FamilyLines[] {
  const size = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  return texts.map(([family, text]) => {
    const start = end;
    end += bytes.write(text, start);
    return { family, bytes, start, end };
  });
}

type Header = readonly [Family, Readonly<Record<Format, TextPart>>];

/** Returns the lines of some appliances, each family under its header and once. */
function join(
  headers: readonly Header[],
  format: Format,
  chosen: readonly StoredReadings[],
  isBare: boolean,
): readonly TextPart[] {
  const joined = new Map<Family, TextPart[]>(headers.map(([family]) => [family, []]));
  for (const readings of chosen)
    for (const { lines } of readings.values())
      for (const part of lines) {
        const { family } = part;
        joined.get(family)?.push(isBare && family.takesConfiguredLabels ? withOwnLabels(part, family) : part);
      }
  const isNeeded = ([family]: Header): boolean => (joined.get(family)?.length ?? 0) > 0;
  return headers.filter(isNeeded).flatMap(([family, header]) => [header[format], ...(joined.get(family) ?? [])]);
}

/** Removes labels that are not the family's: those of the configuration. */
function withOwnLabels({ bytes, start, end }: TextPart, { labels }: Family): TextPart {
  const own = new Set(['appliance', ...labels]);
  return partOf(
    bytes
      .toString('utf8', start, end)
      .replaceAll(/,(\w+)="(?:[^"\\]|\\.)*"/g, (pair, name: string) => (own.has(name) ? pair : '')),
  );
}

async function headerOf(family: Family): Promise<Header> {
  const classic = await renderHeader(family);
  return [family, { text: partOf(classic), openmetrics: partOf(inFormat(classic, 'openmetrics')) }];
}

function partOf(text: string): TextPart {
  const bytes = Buffer.from(text);
  return { bytes, start: 0, end: bytes.length };
}
