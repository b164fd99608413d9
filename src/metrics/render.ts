import { Counter, Gauge, Registry } from 'prom-client';
import type { Emit, Family, Labels, StateSet, Value } from './family.ts';
import { digestForm } from '../lib/text.ts';
import type { Format } from './exposition.ts';

/** Samples in a registry of prom-client, ready to be rendered. */
export interface FilledRegistry {
  readonly registry: Registry;
  /** The families with samples, in the order of their first one. */
  readonly families: readonly FamilySize[];
}

/** A family, and how many series it has in a registry. */
export interface FamilySize {
  readonly family: Family;
  readonly series: number;
}

export function totalSeries(families: readonly FamilySize[]): number {
  return families.reduce((total, { series }) => total + series, 0);
}

export interface FillResult extends FilledRegistry {
  /** Series left out because an earlier sample has the same labels. */
  readonly duplicates: number;
  /** State words outside their closed list, once each. */
  readonly unknownStates: readonly { readonly family: Family; readonly word: string }[];
}

interface Filling {
  readonly family: Family;
  readonly names: readonly string[];
  readonly metric: Gauge | Counter;
  series: number;
  /** Label values already taken: Prometheus refuses an exposition that has one series twice. */
  readonly taken: Set<string>;
}

/** Runs `fill` once and puts what it emits for one appliance into new metrics of prom-client. */
export function fillRegistry(appliance: string, fill: (emit: Emit) => void): FillResult {
  const registry = new Registry();
  const filled = new Map<Family, Filling>();
  const unknownStates = new Map<string, { readonly family: Family; readonly word: string }>();
  let duplicates = 0;

  function fillingOf(family: Family, others: readonly string[] = []): Filling {
    const known = filled.get(family);
    if (known) return known;
    const options = optionsOf(family, registry, others);
    const filling = {
      family,
      names: options.labelNames,
      metric: createMetric(family.type, options),
      series: 0,
      taken: new Set<string>(),
    };
    filled.set(family, filling);
    return filling;
  }

  /** Returns the labels in their order, or undefined if the family has these labels already. */
  function claim({ family, names, taken }: Filling, given: Labels, extra: Labels = {}): Labels | undefined {
    const labels: Record<string, string> = { appliance: labelValue(appliance, names) };
    for (const name of family.labels) labels[name] = labelValue(given[name] ?? '', names);
    for (const name in extra) labels[name] = labelValue(extra[name] ?? '', names);
    // No label value has a line break.
    const key = Object.values(labels).join('\n');
    if (taken.has(key)) {
      duplicates += 1;
      return undefined;
    }
    taken.add(key);
    return labels;
  }

  function sample(family: Family, given: Labels, value: Value, extra: Labels = {}): void {
    if (value === null || value === undefined) return;
    const number = Number(value);
    if (!isWritable(family, number)) return;
    const filling = fillingOf(family, Object.keys(extra));
    const labels = claim(filling, given, extra);
    if (!labels) return;
    write(filling.metric, labels, number);
    filling.series += 1;
  }

  fill({
    sample,
    state(set: StateSet, given: Labels, state: string) {
      const filling = fillingOf(set, [set.stateLabel]);
      const labels = claim(filling, given);
      if (!labels) return;
      const current = set.states.includes(state) ? state : 'unknown';
      if (current !== state) unknownStates.set(`${set.name} ${state}`, { family: set, word: state });
      for (const each of set.states)
        write(filling.metric, { ...labels, [set.stateLabel]: each }, each === current ? 1 : 0);
      filling.series += set.states.length;
    },
  });
  // Without the metrics, which are dropped once they are rendered.
  const families = [...filled.values()].map(({ family, series }) => ({ family, series }));
  return { registry, families, duplicates, unknownStates: [...unknownStates.values()] };
}

/** Returns the options of a metric of prom-client that has the labels of a family, and `others`. */
export function optionsOf({ name, help, labels }: Family, registry: Registry, others: readonly string[] = []) {
  return { name, help, labelNames: ['appliance', ...labels, ...others], registers: [registry] };
}

function createMetric(type: Family['type'], options: ReturnType<typeof optionsOf>): Gauge | Counter {
  return type === 'counter' ? new Counter(options) : new Gauge(options);
}

/** Returns false if prom-client would throw: for counters below 0 and beyond all numbers. */
function isWritable({ type }: Family, value: number): boolean {
  return type !== 'counter' || (value >= 0 && Number.isFinite(value));
}

function write(metric: Gauge | Counter, labels: Labels, value: number): void {
  if (metric instanceof Counter) metric.inc(labels, value);
  else metric.set(labels, value);
}

/**
 * Returns the sample lines of one family of a registry, without HELP and TYPE; empty where it has
 * none.
 */
export async function renderLines(registry: Registry, name: string): Promise<string> {
  const text = fixNan(await registry.getSingleMetricAsString(name));
  const header = text.indexOf('\n', text.indexOf('\n') + 1);
  return header < 0 ? '' : `${text.slice(header + 1)}\n`;
}

/** Returns the HELP and TYPE lines of a family. */
export async function renderHeader(family: Family): Promise<string> {
  const registry = new Registry();
  // A gauge without series has nothing but these two lines, whose last word is the type.
  createMetric('gauge', optionsOf(family, registry));
  return (await registry.getSingleMetricAsString(family.name)).replace(/gauge$/, `${family.type}\n`);
}

/** Returns all that a registry has, in the classic format, without blank lines. */
export async function renderRegistry(registry: Registry): Promise<string> {
  // Never OpenMetrics: rendering that once makes prom-client 15.1.3 lose `_total` in all later
  // classic ones.
  return fixNan(`${await registry.metrics()}\n`).replaceAll(/\n{2,}/g, '\n');
}

/**
 * Makes OpenMetrics of classic text: counter families are named without their suffix, samples stay
 * as they are. No two families may have one name without suffix; a test checks it.
 */
export function inFormat(classic: string, format: Format): string {
  if (format === 'text') return classic;
  const counters = new Set([...classic.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => name));
  return classic.replaceAll(/^(# (?:HELP|TYPE) )(\S+)_total /gm, (line, start: string, name: string) =>
    counters.has(name) ? `${start}${name} ` : line,
  );
}

/** Corrects `Nan` of prom-client 15.1.3. */
function fixNan(text: string): string {
  return text.includes(' Nan') ? text.replaceAll(/ Nan$/gm, ' NaN') : text;
}

const maxLength = 128;
const plainLabel = /^[\x20-\x2b\x2d-\x7d]{0,128}$/;
const endsInDigest = /~[0-9a-f]{12}$/;

/**
 * Returns a label value that cannot break an exposition or turn the text of an alert: well-formed,
 * without control and bidirectional characters, at most 128 characters. A changed value ends in a
 * digest of the original, and so does one that looks changed: two names stay two series. `names` are
 * all label names of the family.
 */
export function labelValue(text: string, names: readonly string[]): string {
  if (plainLabel.test(text)) return text;
  // Replaced and not left out: a key of which a reply interrupts the text must not become whole
  // here.
  const clean = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
  const isKept = clean === text && clean.length <= maxLength && !endsInDigest.test(text) && !isAmbiguous(text, names);
  return isKept ? clean : digestForm(clean, text, maxLength);
}

/**
 * Returns true if a value looks like the next label: prom-client compares label sets as
 * `name:value,` in one text.
 */
function isAmbiguous(text: string, names: readonly string[]): boolean {
  return text.includes(',') && names.some((name) => text.includes(`,${name}:`));
}
