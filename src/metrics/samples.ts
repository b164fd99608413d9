import { createHash } from 'node:crypto';
import type { Family, StateSet } from './family.ts';

/** A number, or null and undefined for "not known", which writes no sample: absent is not zero. */
export type Value = number | null | undefined;

export interface HistogramValue {
  /** Upper bound in seconds and the cumulative count up to it; `+Inf` is added from `count`. */
  readonly buckets: readonly (readonly [number, number])[];
  readonly sum: number;
  readonly count: number;
}

/** Where a collector puts its numbers. */
export interface Emit {
  sample<Label extends string>(family: Family<Label>, labels: Readonly<Record<Label, string>>, value: Value): void;
  /** One series per state; a word outside the closed list sets `unknown`. */
  state<Label extends string>(set: StateSet<Label>, labels: Readonly<Record<Label, string>>, state: string): void;
  /** A constant 1 whose facts are labels; `extra` adds labels that only the configuration knows. */
  info<Label extends string>(
    family: Family<Label>,
    labels: Readonly<Record<Label, string>>,
    extra?: Readonly<Record<string, string>>,
  ): void;
  histogram<Label extends string>(
    family: Family<Label>,
    labels: Readonly<Record<Label, string>>,
    value: HistogramValue,
  ): void;
}

type Labels = Readonly<Record<string, string>>;

/** The finished sample lines of one family, the same bytes in both formats. */
export interface FamilySamples {
  readonly family: Family;
  readonly text: string;
  readonly series: number;
}

export interface RenderedSamples {
  readonly families: readonly FamilySamples[];
  /** Series left out since they were named before. */
  readonly duplicates: number;
  /** State words outside their closed list, once each. */
  readonly unknownStates: readonly { readonly family: Family; readonly word: string }[];
}

interface Lines {
  readonly family: Family;
  /** The text in pieces, joined at the end: a string that grows leaves an object behind with each piece. */
  readonly pieces: string[];
  /** Series in `pieces`. */
  series: number;
  /** Label texts already taken; a page with one series twice is refused as a whole by Prometheus. */
  readonly seen: Set<string>;
}

/** Runs `fill` and renders what it emits for one appliance. */
export function renderSamples(appliance: string, fill: (emit: Emit) => void): RenderedSamples {
  const families = new Map<Family, Lines>();
  const unknownStates = new Map<string, { readonly family: Family; readonly word: string }>();
  let duplicates = 0;
  const first = `{appliance="${labelValue(appliance)}`;
  /** By the names and the labels that they are of: most things have samples in one family after the other. */
  const texts = new Map<readonly string[], Map<Labels, string>>();

  const textOf = ({ labels: names, starts }: Family, labels: Labels): string => {
    const known = texts.get(names)?.get(labels);
    if (known !== undefined) return known;
    let text = first;
    for (const { label, start } of starts) text += start + labelValue(labels[label] ?? '');
    text += '"';
    const ofNames = texts.get(names) ?? new Map<Labels, string>();
    texts.set(names, ofNames.set(labels, text));
    return text;
  };

  const linesOf = (family: Family): Lines => {
    let lines = families.get(family);
    if (!lines) {
      lines = { family, pieces: [], series: 0, seen: new Set() };
      families.set(family, lines);
    }
    return lines;
  };

  const claim = (lines: Lines, labels: string): boolean => {
    if (lines.seen.has(labels)) {
      duplicates += 1;
      return false;
    }
    lines.seen.add(labels);
    return true;
  };

  const emit: Emit = {
    sample(family, labels, value) {
      if (value === null || value === undefined) return;
      const lines = linesOf(family);
      const text = textOf(family, labels);
      if (!claim(lines, text)) return;
      lines.pieces.push(family.name, text, '} ', numberText(value), '\n');
      lines.series += 1;
    },
    state(set, labels, state) {
      const lines = linesOf(set);
      const text = textOf(set, labels);
      if (!claim(lines, text)) return;
      const current = set.states.includes(state) ? state : 'unknown';
      if (current !== state) unknownStates.set(`${set.name} ${state}`, { family: set, word: state });
      for (const each of set.endings) lines.pieces.push(set.name, text, each.state === current ? each.yes : each.no);
      lines.series += set.endings.length;
    },
    info(family, labels, extra = {}) {
      const lines = linesOf(family);
      let text = textOf(family, labels);
      for (const name in extra) text += `,${name}="${labelValue(extra[name] ?? '')}"`;
      if (!claim(lines, text)) return;
      lines.pieces.push(family.name, text, '} 1\n');
      lines.series += 1;
    },
    histogram(family, labels, value) {
      const lines = linesOf(family);
      const text = textOf(family, labels);
      if (!claim(lines, text)) return;
      const { pieces } = lines;
      for (const [bound, count] of value.buckets)
        pieces.push(family.name, '_bucket', text, ',le="', numberText(bound), '"} ', String(count), '\n');
      pieces.push(family.name, '_bucket', text, ',le="+Inf"} ', String(value.count), '\n');
      pieces.push(family.name, '_sum', text, '} ', numberText(value.sum), '\n');
      pieces.push(family.name, '_count', text, '} ', String(value.count), '\n');
      lines.series += value.buckets.length + 3;
    },
  };
  fill(emit);

  return {
    families: [...families.values()].flatMap(({ family, pieces, series }) =>
      series > 0 ? [{ family, text: pieces.join(''), series }] : [],
    ),
    duplicates,
    unknownStates: [...unknownStates.values()],
  };
}

const maxLabelLength = 128;
const harmless = /^[\x20\x21\x23-\x5b\x5d-\x7e]{0,128}$/;
const digestForm = /~[0-9a-f]{12}$/;

/**
 * A label value that cannot break a page: well-formed, without control characters, at most 128 characters. What had to be
 * changed ends in a digest of the original, as does what only looks like that, so that two names stay two series.
 */
function labelValue(text: string): string {
  // Asked first, as nearly no name has the sign.
  const looksMarked = text.includes('~') && digestForm.test(text);
  if (!looksMarked && harmless.test(text)) return text;
  // Replaced and not left out: a key of which a reply interrupts the text must not become whole here.
  const clean = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
  const isKept = !looksMarked && clean === text && clean.length <= maxLabelLength;
  const kept = isKept ? clean : marked(clean, text);
  return kept.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

function marked(clean: string, original: string): string {
  // By code units: as UTF-8, all lone surrogates would look alike.
  const digest = createHash('sha256').update(original, 'utf16le').digest('hex').slice(0, 12);
  return `${clean.slice(0, maxLabelLength - digest.length - 1).toWellFormed()}~${digest}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
