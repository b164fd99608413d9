import { readFileSync } from 'node:fs';

/** A dashboard, as far as its picture needs it. */
export interface Board {
  readonly title: string;
  readonly panels: readonly (Row | Panel)[];
}

interface Row extends Place {
  readonly type: 'row';
  readonly collapsed: boolean;
  readonly panels: readonly Panel[];
}

export interface Panel extends Place {
  readonly type: 'stat' | 'table' | 'timeseries' | 'state-timeline' | 'bargauge' | 'heatmap';
  readonly description?: string;
  readonly targets: readonly Target[];
  readonly transformations?: readonly { readonly id: string; readonly options: TableOptions }[];
  readonly options: { readonly sortBy?: readonly { readonly displayName: string; readonly desc: boolean }[] };
  readonly fieldConfig: {
    readonly defaults: Field;
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
}

interface Place {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

interface TableOptions {
  readonly include?: { readonly names: readonly string[] };
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly legendFormat?: string;
}

/** How a value is shown. */
export interface Field {
  readonly displayName?: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly noValue?: string;
  readonly mappings?: readonly Mapping[];
  readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
  readonly color?: { readonly mode: string; readonly fixedColor?: string };
  readonly custom?: { readonly stacking?: { readonly mode: string } };
}

type Mapping =
  | { readonly type: 'value'; readonly options: Readonly<Record<string, Shown>> }
  | { readonly type: 'special'; readonly options: { readonly result: Shown } };

/** A text, and the name of its colour. */
export interface Shown {
  readonly text: string;
  readonly color?: string;
}

/** Reads a dashboard that ships. */
export function readBoard(name: string): Board {
  return JSON.parse(readFileSync(new URL(`../../dashboards/zlb-${name}.json`, import.meta.url), 'utf8')) as Board;
}

/** Returns the field of a column or series: the defaults of the panel, and its own settings. */
export function fieldOf({ fieldConfig }: Panel, name: string): Field {
  const own = fieldConfig.overrides.filter(({ matcher }) => matcher.options === name);
  const properties = own.flatMap((override) => override.properties.map(({ id, value }) => [id, value] as const));
  return { ...fieldConfig.defaults, ...Object.fromEntries(properties) };
}

/** Returns a value as its field shows it. */
export function show(field: Field, value: string | number | undefined): Shown {
  for (const mapping of field.mappings ?? []) {
    const shown =
      mapping.type === 'special'
        ? value === undefined
          ? mapping.options.result
          : undefined
        : mapping.options[`${value}`];
    if (shown) return shown;
  }
  if (value === undefined) return { text: field.noValue ?? '' };
  const color = field.color?.fixedColor ?? (typeof value === 'number' ? thresholdColor(field, value) : undefined);
  return { text: typeof value === 'number' ? inUnit(value, field) : value, ...(color === undefined ? {} : { color }) };
}

function thresholdColor({ thresholds }: Field, value: number): string | undefined {
  return thresholds?.steps.findLast((step) => step.value === null || value >= step.value)?.color;
}

const secondsOf = { d: 86_400, h: 3_600, min: 60, s: 1 } as const;

/** Returns a number in a unit of Grafana, as short as it does. */
export function inUnit(value: number, { unit = 'none', decimals }: Field): string {
  switch (unit) {
    case 'percentunit':
      return `${rounded(value * 100, decimals ?? 1)} %`;
    case 'bytes':
    case 'Bps':
      return `${scaled(value, 1_024, ['', 'Ki', 'Mi', 'Gi'])}B${unit === 'Bps' ? '/s' : ''}`;
    case 'reqps':
      return `${rounded(value, 2)} req/s`;
    case 's':
      return value !== 0 && Math.abs(value) < 1 ? `${rounded(value * 1_000, 1)} ms` : duration(value);
    case 'dtdurations':
    case 'dtdhms':
      return duration(value);
    case 'dateTimeAsIso':
      return new Date(value).toISOString().slice(0, 16).replace('T', ' ');
    case 'short':
      return scaled(value, 1_000, ['', ' K', ' Mil', ' Bil']);
    default:
      return rounded(value, decimals ?? 2);
  }
}

function duration(seconds: number): string {
  const [unit, length] = Object.entries(secondsOf).find(([, each]) => Math.abs(seconds) >= each) ?? (['s', 1] as const);
  return `${rounded(seconds / length, 1)} ${unit}`;
}

function scaled(value: number, base: number, prefixes: readonly string[]): string {
  const power = value === 0 ? 0 : Math.floor(Math.log(Math.abs(value)) / Math.log(base));
  const index = Math.min(Math.max(power, 0), prefixes.length - 1);
  return `${rounded(value / base ** index, 1)}${base === 1_024 ? ' ' : ''}${prefixes[index]}`;
}

function rounded(value: number, decimals: number): string {
  return `${Number(value.toFixed(decimals))}`;
}
