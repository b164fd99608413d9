import type { TableCellOptions } from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  type FieldColor,
  FieldColorModeId,
  type Panel,
  type ThresholdsConfig,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import type { RowLink } from './links.ts';
import { datasource } from './variables.ts';

/** A panel that waits for its title. */
export type Titled = (title: string) => { build(): Panel };

export interface Described {
  /**
   * An explanation for someone who sees the panel for the first time at night: its meaning, and
   * which values are bad.
   */
  readonly description: string;
}

/** The properties that every panel needs. */
interface Look extends Described {
  readonly title: string;
  /** A unit of Grafana; `none` for words and plain numbers. */
  readonly unit: string;
  /** The width in columns of 24. */
  readonly width: number;
  readonly height: number;
}

export type Steps = readonly (readonly [from: number | null, color: string])[];

/** One colour for everything. */
export const neutral: Steps = [[null, 'blue']];
/** Some are good, none is bad. */
export const noneIs = (color: string): Steps => [
  [null, color],
  [1, 'green'],
];
/** Steps for readings that are due each half minute or minute: late, and stale. */
export const ageSteps: Steps = [
  [null, 'green'],
  [120, 'orange'],
  [300, 'red'],
];
/** Less than nothing is past. */
export const expirySteps: Steps = [
  [null, 'red'],
  [0, 'text'],
];
/** The part of a certificate's life that is left, as the alerts see it. */
export const lifeSteps: Steps = [
  [null, 'red'],
  [alertThresholds.expiryImminentRatio, 'orange'],
  [alertThresholds.expirySoonRatio, 'green'],
];
/** The part of a service's backends that is up, as the alerts see it. */
export const backendSteps: Steps = [
  [null, 'red'],
  [0.01, 'orange'],
  [alertThresholds.farmBackendsUpRatio, 'green'],
];
/** A share that should be low. */
export const highIs = (color: string, from: number): Steps => [
  [null, 'green'],
  [from, color],
];
/** None is good, any is bad. */
export const anyIs = (color: string): Steps => [
  [null, 'green'],
  [1, color],
];

/** The methods that the builders of all panels share. */
interface Dressable<Builder> {
  title(title: string): Builder;
  description(description: string): Builder;
  unit(unit: string): Builder;
  span(width: number): Builder;
  height(height: number): Builder;
  datasource(reference: typeof datasource): Builder;
}

export function dress<Builder extends Dressable<Builder>>(builder: Builder, look: Look): Builder {
  return builder
    .title(look.title)
    .description(look.description)
    .unit(look.unit)
    .span(look.width)
    .height(look.height)
    .datasource(datasource);
}

/** What a column or a bar may have of its own. Grafana's builders take any name and any value. */
interface Properties {
  readonly color: FieldColor;
  readonly 'custom.cellOptions': Pick<TableCellOptions, 'type'>;
  readonly 'custom.width': number;
  readonly decimals: number;
  readonly displayName: string;
  readonly links: readonly RowLink[];
  readonly mappings: readonly ValueMapping[];
  readonly noValue: string;
  readonly thresholds: ThresholdsConfig;
  readonly unit: string;
}

export function property<Id extends keyof Properties>(id: Id, value: Properties[Id]): DynamicConfigValue {
  return { id, value };
}

export function thresholds(steps: Steps): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(steps.map(([value, color]) => ({ value, color })));
}

export const byThreshold = { mode: FieldColorModeId.Thresholds } as const;
