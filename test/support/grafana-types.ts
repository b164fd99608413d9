import type * as BarGauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type * as Heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as Stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as StateTimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as Table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as TimeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type * as grafana from '@grafana/schema';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';

// Grafana's schema leaves open what each kind of panel brings along (`options`, `custom`, targets,
// overrides). Here the parts that its package has too are put in their places.
// test/support/grafana-schema.ts makes a JSON schema of it.

/** A dashboard as our boards may be: Grafana's own types, with nothing left open. */
export interface Board extends Omit<grafana.Dashboard, 'panels' | 'templating' | 'annotations'> {
  readonly uid: string;
  readonly title: string;
  /** A collapsed row has its panels within it. */
  readonly panels: readonly (
    | (Omit<grafana.RowPanel, 'panels'> & { readonly panels: readonly AnyPanel[] })
    | AnyPanel
  )[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly Annotation[] };
}

type AnyPanel =
  | PanelOf<'table', TableOptions, Table.FieldConfig>
  | PanelOf<'stat', Stat.Options, object>
  | PanelOf<'bargauge', BarGauge.Options, object>
  | PanelOf<'timeseries', TimeSeries.Options, TimeSeries.FieldConfig>
  | PanelOf<'state-timeline', StateTimeline.Options, StateTimeline.FieldConfig>
  | PanelOf<'heatmap', Heatmap.Options, Heatmap.FieldConfig>;

interface PanelOf<Type extends string, Options, Custom>
  extends Omit<grafana.Panel, 'type' | 'options' | 'fieldConfig' | 'targets' | 'transformations'> {
  readonly type: Type;
  readonly title: string;
  readonly description: string;
  readonly options: Options;
  readonly targets: readonly Dataquery[];
  readonly transformations?: readonly Transformation[];
  readonly fieldConfig: {
    readonly defaults: Omit<grafana.FieldConfig, 'custom' | 'links'> & {
      readonly custom?: Partial<Custom>;
      readonly links?: readonly DataLink[];
    };
    readonly overrides: readonly {
      readonly matcher: { readonly id: 'byName'; readonly options: string };
      readonly properties: readonly Property[];
    }[];
  };
}

/** Grafana 10 and 11 look for pagination in the footer, 12.2 and later in the options. */
type TableOptions = Table.Options & {
  readonly footer?: { readonly show: boolean; readonly reducer: readonly string[]; readonly enablePagination: boolean };
};

/** Properties that an override may set: those of a field, and those of a column. */
type Property =
  | PropertyOf<'displayName' | 'unit' | 'noValue', string>
  | PropertyOf<'decimals', number>
  | PropertyOf<'mappings', readonly grafana.ValueMapping[]>
  | PropertyOf<'thresholds', grafana.ThresholdsConfig>
  | PropertyOf<'color', grafana.FieldColor>
  | PropertyOf<'links', readonly DataLink[]>
  | PropertyOf<'custom.width', number>
  | PropertyOf<'custom.cellOptions', grafana.TableCellOptions>;

interface PropertyOf<Id extends string, Value> {
  readonly id: Id;
  readonly value: Value;
}

/** Not in the package: Grafana's `DataLink`. */
interface DataLink {
  readonly title: string;
  readonly url: string;
  readonly targetBlank?: boolean;
}

/** Not in the package: the options of the transformations that our tables use. */
type Transformation =
  | { readonly id: 'merge'; readonly options: Record<string, never> }
  | { readonly id: 'filterFieldsByName'; readonly options: { readonly include: { readonly names: readonly string[] } } }
  | {
      readonly id: 'organize';
      readonly options: {
        readonly excludeByName: Record<string, boolean>;
        readonly indexByName: Record<string, number>;
        readonly renameByName: Record<string, string>;
      };
    };

/** `definition` is what the editor of variables shows. */
type Variable = grafana.VariableModel & { readonly definition?: string };

/** The part of an annotation that the Prometheus data source reads. */
type Annotation = Omit<grafana.AnnotationQuery, 'target' | 'snapshotData'> & {
  readonly expr: string;
  readonly step: string;
  readonly titleFormat: string;
  readonly textFormat: string;
  readonly useValueForTime?: boolean;
};
