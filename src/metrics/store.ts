// Keeps the samples of all appliances as rendered text, and joins it into the exposition of a scrape.
// prom-client renders samples once, when they are put (render.ts), and not at each scrape. The store
// alone changes this text: pollers put and remove it by appliance and key. Several scrapes at the same
// time share one exposition, which every change discards. Read on in render.ts, exposition.ts and
// series-limit.ts.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Family } from './family.ts';
import { createExposition, type Exposition, type Format, type Representation, type TextRange } from './exposition.ts';
import { type FamilySize, inFormat, type FilledRegistry, renderHeader, renderLines, totalSeries } from './render.ts';
import { familiesWithinLimit } from './series-limit.ts';

export type MetricsStore = ReturnType<typeof createMetricsStore>;

/** More series are rendered family by family, with other work in between. */
const maxSeriesAtOnce = 2_000;

/** The samples of an appliance under one key, mostly those of a reading. Newer ones replace them. */
interface StoredSamples {
  /** All of its families, also those that are left out. */
  readonly families: readonly FamilySize[];
  /** The families within the limit, rendered or not yet. */
  allowed: readonly FamilySize[];
  /** The rendered lines by family; empty until then. */
  lines: readonly FamilyLines[];
  /** Its turn when the limit is divided; undefined if it is not limited. */
  readonly rank: number | undefined;
}

/** The lines of a family. All families under a key share one buffer, which takes less memory. */
interface FamilyLines extends TextRange {
  readonly family: Family;
}

/** The limit that all samples of an appliance share. */
interface Limit {
  readonly maxSeries: number;
  /** Samples with a lower rank get their series first. */
  readonly rank: number;
}

/** The samples of one appliance by key, in the order in which the keys were put first. */
type ApplianceSamples = Map<string, StoredSamples>;

/**
 * Holds the finished text of all appliances and joins it into expositions, family by family;
 * `families` is their order in an exposition.
 */
export function createMetricsStore(families: readonly Family[]) {
  const headers = Promise.all(families.map(headerOf));
  let appliances: ReadonlyMap<string, ApplianceSamples> = new Map();
  const rendering = new Set<Promise<void>>();
  /** The cache of expositions of all appliances; emptied by every change. */
  const cache = new Map<string, Promise<Exposition>>();

  return {
    /**
     * Sets the appliances and their order in an exposition. Appliances that stay keep what they
     * have, except those in `emptied`.
     */
    arrange(names: readonly string[], emptied: ReadonlySet<string> = new Set()): void {
      const before = appliances;
      const kept = (name: string): ApplianceSamples | undefined => (emptied.has(name) ? undefined : before.get(name));
      appliances = new Map(names.map((name) => [name, kept(name) ?? new Map()]));
      cache.clear();
    },
    /**
     * Replaces what an appliance has under this key. It is rendered at once, and every later
     * exposition has it, as far as the limit allows. Returns the number of series that are left out
     * now, under this key and others.
     */
    put(appliance: string, key: string, filled: FilledRegistry, limit?: Limit): number {
      const samples = appliances.get(appliance);
      if (!samples) return 0;
      const { families } = filled;
      const stored: StoredSamples = { families, allowed: families, lines: [], rank: limit?.rank };
      samples.set(key, stored);
      cache.clear();
      const leftOut = limit ? applyLimit(samples, limit.maxSeries) : 0;
      const rendered = render(filled, stored).finally(() => rendering.delete(rendered));
      rendering.add(rendered);
      return leftOut;
    },
    remove(appliance: string, key: string): void {
      if (appliances.get(appliance)?.delete(key)) cache.clear();
    },
    /** Returns the numbers of series of an appliance that are limited. */
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
     * Returns what was put before, of all appliances or of those in `names`. With
     * `withoutConfiguredLabels`, the labels of the configuration are left out.
     */
    async exposition(
      { format, encoding }: Representation,
      names?: ReadonlySet<string>,
      withoutConfiguredLabels = false,
    ): Promise<Exposition> {
      const familyHeaders = await headers;
      // All or nothing: samples that were put together come together.
      while (rendering.size > 0) await Promise.all(rendering);
      const chosen = [...appliances].flatMap(([name, samples]) => (!names || names.has(name) ? [samples] : []));
      const build = (): Promise<Exposition> =>
        createExposition(join(familyHeaders, format, chosen, withoutConfiguredLabels), encoding);
      if (names) return await build();
      const key = `${format} ${encoding}`;
      const exposition = cache.get(key) ?? build();
      cache.set(key, exposition);
      return await exposition;
    },
  };
}

/** Removes the families above the limit; returns the number of their series. */
function applyLimit(samples: ApplianceSamples, maxSeries: number): number {
  let leftOut = 0;
  for (const [key, allowedNow] of familiesWithinLimit(samples, maxSeries) ?? []) {
    const stored = samples.get(key);
    const allowed = stored?.allowed.filter(({ family }) => allowedNow.has(family)) ?? [];
    if (!stored || allowed.length === stored.allowed.length) continue;
    leftOut += totalSeries(stored.allowed) - totalSeries(allowed);
    stored.allowed = allowed;
    stored.lines = stored.lines.filter(({ family }) => allowedNow.has(family));
  }
  return leftOut;
}

/** Renders samples; meanwhile, later ones may have taken the place of some families. */
async function render({ registry }: FilledRegistry, stored: StoredSamples): Promise<void> {
  const families = stored.allowed;
  const isLong = totalSeries(families) > maxSeriesAtOnce;
  const texts: (readonly [Family, string])[] = [];
  for (const { family } of families) {
    if (isLong) await yieldToEventLoop();
    texts.push([family, await renderLines(registry, family.name)]);
  }
  const allowedNow = new Set(stored.allowed.map(({ family }) => family));
  stored.lines = toLines(texts.filter(([family, text]) => allowedNow.has(family) && text !== ''));
}

/** Writes all texts to a buffer of their own: a short one of Node's pool would keep the whole pool. */
function toLines(texts: readonly (readonly [Family, string])[]): readonly FamilyLines[] {
  const size = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  return texts.map(([family, text]) => {
    const start = end;
    end += bytes.write(text, start);
    return { family, bytes, start, end };
  });
}

type Header = readonly [Family, Readonly<Record<Format, TextRange>>];

/** Joins the lines of some appliances, so that each family comes once, below its header. */
function join(
  headers: readonly Header[],
  format: Format,
  chosen: readonly ApplianceSamples[],
  withoutConfiguredLabels: boolean,
): readonly TextRange[] {
  const linesOf = new Map<Family, TextRange[]>(headers.map(([family]) => [family, []]));
  for (const samples of chosen)
    for (const { lines } of samples.values())
      for (const each of lines) {
        const { family } = each;
        const isStripped = withoutConfiguredLabels && family.hasConfiguredLabels;
        linesOf.get(family)?.push(isStripped ? stripConfiguredLabels(each, family) : each);
      }
  return headers.flatMap(([family, header]) => {
    const lines = linesOf.get(family) ?? [];
    return lines.length === 0 ? [] : [header[format], ...lines];
  });
}

function stripConfiguredLabels({ bytes, start, end }: TextRange, { labels }: Family): TextRange {
  const kept = new Set(['appliance', ...labels]);
  return rangeOf(
    bytes
      .toString('utf8', start, end)
      .replaceAll(/,(\w+)="(?:[^"\\]|\\.)*"/g, (pair, name: string) => (kept.has(name) ? pair : '')),
  );
}

async function headerOf(family: Family): Promise<Header> {
  const classic = await renderHeader(family);
  return [family, { text: rangeOf(classic), openmetrics: rangeOf(inFormat(classic, 'openmetrics')) }];
}

function rangeOf(text: string): TextRange {
  const bytes = Buffer.from(text);
  return { bytes, start: 0, end: bytes.length };
}
