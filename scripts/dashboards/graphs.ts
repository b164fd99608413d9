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
import { byThreshold, dress, type Look, type Steps, thresholds } from './look.ts';
import { mapping, type Words } from './states.ts';
import { instant, type Query, range } from './targets.ts';

interface StatSpec extends Look {
  readonly queries: readonly Query[];
  readonly steps: Steps;
  readonly words?: Words;
  readonly decimals?: number;
  /** The text while nothing is known. */
  readonly empty?: string;
}

const last = { build: () => ({ calcs: ['lastNotNull'], values: false, fields: '' }) };

/** A number or a word in large letters. */
function big(spec: StatSpec): stat.PanelBuilder {
  const panel = dress(new stat.PanelBuilder(), spec)
    .targets(instant(spec.queries))
    .reduceOptions(last)
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Auto)
    .thresholds(thresholds(spec.steps))
    .colorScheme({ build: () => byThreshold })
    .noValue(spec.empty ?? 'not known');
  if (spec.words) panel.mappings([mapping(spec.words)]);
  if (spec.decimals !== undefined) panel.decimals(spec.decimals);
  return panel;
}

interface TileSpec extends Pick<StatSpec, 'title' | 'description' | 'steps' | 'words' | 'decimals' | 'empty'> {
  readonly expr: string;
  readonly unit?: string;
  readonly height?: number;
}

/** One of eight in a row, or beside graphs as high as they are. */
export function tile({ expr, unit = 'none', height = 4, ...spec }: TileSpec): stat.PanelBuilder {
  return big({ ...spec, unit, width: 3, height, queries: [{ expr }] });
}

interface BarsSpec extends Look {
  readonly query: Query;
  /** Colours by the name of the bar. */
  readonly words?: Words;
  readonly empty?: string;
}

/** One bar for each series, as it is now. */
export function bars(spec: BarsSpec): bargauge.PanelBuilder {
  const panel = dress(new bargauge.PanelBuilder(), spec)
    .targets(instant([spec.query]))
    .reduceOptions(last)
    .min(0)
    .thresholds(thresholds([[null, 'blue']]))
    .colorScheme({ build: () => byThreshold })
    .noValue(spec.empty ?? 'not known');
  for (const [state, { text, color }] of Object.entries(spec.words ?? {}))
    panel.overrideByName(state, [
      { id: 'displayName', value: text },
      { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: color } },
    ]);
  return panel;
}

interface LinesSpec extends Look {
  readonly queries: readonly Query[];
  readonly stacked?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** Drawn as lines. */
  readonly steps?: Steps;
  readonly empty?: string;
}

/** Numbers over time. */
export function lines(spec: LinesSpec): timeseries.PanelBuilder {
  const panel = dress(new timeseries.PanelBuilder(), spec)
    .targets(range(spec.queries))
    .fillOpacity(spec.stacked ? 30 : 5)
    .lineWidth(1)
    .showPoints(VisibilityMode.Auto)
    .min(spec.min ?? 0)
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
}

interface TimelineSpec extends Omit<Look, 'unit'> {
  readonly queries: readonly Query[];
  readonly words: Words;
  readonly empty: string;
}

/** States over time, a bar for each object; where nothing is known there is a gap. */
export function timeline(spec: TimelineSpec): statetimeline.PanelBuilder {
  return (
    dress(new statetimeline.PanelBuilder(), { ...spec, unit: 'none' })
      .targets(range(spec.queries))
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
}

interface LatencySpec extends Look {
  /** Rates by `le`. */
  readonly expr: string;
}

/** A histogram over time: the darker, the more. */
export function latency(spec: LatencySpec): heatmap.PanelBuilder {
  return dress(new heatmap.PanelBuilder(), spec)
    .targets(range([{ expr: spec.expr, legend: '{{le}}' }], PromQueryFormat.Heatmap))
    .calculate(false)
    .yAxis({ build: () => ({ unit: spec.unit }) })
    .cellValues({ build: () => ({ unit: 'reqps' }) })
    .noValue('no calls');
}
