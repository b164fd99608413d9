import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import { FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { byThreshold, type Described, dress, neutral, property, type Steps, thresholds, type Titled } from './look.ts';
import { mapping, type Words } from './states.ts';
import { instant, type Query, range } from './targets.ts';

/** The usual size of a graph: two of them fill a row. */
const [graphWidth, graphHeight] = [12, 9];

interface TileSpec extends Described {
  readonly expr: string;
  readonly unit?: string;
  readonly height?: number;
  readonly steps?: Steps;
  readonly words?: Words;
  readonly decimals?: number;
  /** The text while nothing is known. */
  readonly empty?: string;
}

const last = { build: () => ({ calcs: ['lastNotNull'], values: false, fields: '' }) };

/**
 * A number or a word in large letters: one of eight in a row, or beside graphs as high as they are.
 */
export const tile =
  (spec: TileSpec): Titled =>
  (title) => {
    const panel = dress(new stat.PanelBuilder(), { title, unit: 'none', height: 4, ...spec, width: 3 })
      .targets(instant([spec]))
      .reduceOptions(last)
      .colorMode(BigValueColorMode.Background)
      .graphMode(BigValueGraphMode.None)
      .textMode(BigValueTextMode.Auto)
      .thresholds(thresholds(spec.steps ?? neutral))
      .colorScheme({ build: () => byThreshold })
      .noValue(spec.empty ?? 'not known');
    if (spec.words) panel.mappings([mapping(spec.words)]);
    if (spec.decimals !== undefined) panel.decimals(spec.decimals);
    return panel;
  };

/** Expressions by the names of their series, with `{{label}}`. */
type Named = Readonly<Record<string, string>>;

function queriesOf(named: Named): readonly Query[] {
  return Object.entries(named).map(([legend, expr]) => ({ expr, legend }));
}

interface BarsSpec extends Described {
  readonly width: number;
  readonly height?: number;
  readonly queries: Named;
  /** Colours by the name of the bar. */
  readonly words?: Words;
}

/** One bar for each series, as it is now. */
export const bars =
  (spec: BarsSpec): Titled =>
  (title) => {
    const panel = dress(new bargauge.PanelBuilder(), { title, unit: 'none', height: graphHeight, ...spec })
      .targets(instant(queriesOf(spec.queries)))
      .reduceOptions(last)
      .min(0)
      .thresholds(thresholds([[null, 'blue']]))
      .colorScheme({ build: () => byThreshold })
      .noValue('not known');
    for (const [state, { text, color }] of Object.entries(spec.words ?? {}))
      panel.overrideByName(state, [
        property('displayName', text ?? state),
        property('color', { mode: FieldColorModeId.Fixed, fixedColor: color ?? 'text' }),
      ]);
    return panel;
  };

interface LinesSpec extends Described {
  readonly unit?: string;
  readonly width?: number;
  readonly height?: number;
  readonly queries: Named;
  readonly stacked?: boolean;
  readonly max?: number;
  /** Drawn as lines. */
  readonly steps?: Steps;
  readonly empty?: string;
}

/** Numbers over time. */
export const lines =
  (spec: LinesSpec): Titled =>
  (title) => {
    const panel = dress(new timeseries.PanelBuilder(), {
      title,
      unit: 'short',
      width: graphWidth,
      height: graphHeight,
      ...spec,
    })
      .targets(range(queriesOf(spec.queries)))
      .fillOpacity(spec.stacked ? 30 : 5)
      .lineWidth(1)
      .showPoints(VisibilityMode.Auto)
      .min(0)
      .legend({
        build: () => ({
          displayMode: LegendDisplayMode.Table,
          placement: LegendPlacement.Right,
          showLegend: true,
          calcs: ['lastNotNull', 'max'],
          sortBy: 'Last *',
          sortDesc: true,
        }),
      })
      .tooltip({ build: () => ({ mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending }) })
      .noValue(spec.empty ?? 'not known');
    if (spec.stacked) panel.stacking({ build: () => ({ mode: StackingMode.Normal, group: 'A' }) });
    if (spec.max !== undefined) panel.max(spec.max);
    if (spec.steps)
      panel
        .thresholds(thresholds(spec.steps))
        .thresholdsStyle({ build: () => ({ mode: GraphThresholdsStyleMode.Dashed }) });
    return panel;
  };

interface TimelineSpec extends Described {
  readonly width?: number;
  readonly height: number;
  readonly queries: Named;
  readonly words: Words;
  readonly empty: string;
}

/** States over time, a bar for each object; where nothing is known there is a gap. */
export const timeline =
  (spec: TimelineSpec): Titled =>
  (title) => {
    return (
      dress(new statetimeline.PanelBuilder(), { title, width: graphWidth, ...spec, unit: 'none' })
        .targets(range(queriesOf(spec.queries)))
        .mappings([mapping(spec.words)])
        .thresholds(thresholds([[null, 'text']]))
        .colorScheme({ build: () => byThreshold })
        .mergeValues(true)
        .showValue(VisibilityMode.Auto)
        .rowHeight(0.9)
        .fillOpacity(80)
        .lineWidth(0)
        .perPage(20)
        // A fleet reads all states of all farms before the forty are chosen.
        .maxDataPoints(200)
        .legend({
          build: () => ({
            displayMode: LegendDisplayMode.List,
            placement: LegendPlacement.Bottom,
            showLegend: true,
            calcs: [],
          }),
        })
        .tooltip({ build: () => ({ mode: TooltipDisplayMode.Single, sort: SortOrder.None }) })
        .noValue(spec.empty)
    );
  };

interface LatencySpec extends Described {
  /** Rates by `le`. */
  readonly expr: string;
}

/** A histogram over time: the darker, the more. */
export const latency =
  (spec: LatencySpec): Titled =>
  (title) => {
    const unit = 's';
    return dress(new heatmap.PanelBuilder(), { title, ...spec, unit, width: graphWidth, height: graphHeight })
      .targets(range([{ expr: spec.expr, legend: '{{le}}' }], PromQueryFormat.Heatmap))
      .calculate(false)
      .yAxis({ build: () => ({ unit }) })
      .cellValues({ build: () => ({ unit: 'reqps' }) })
      .noValue('no calls');
  };
