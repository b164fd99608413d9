import {
  type DynamicConfigValue,
  MappingType,
  type Panel,
  type SpecialValueMap,
  SpecialValueMatch,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { TableCellDisplayMode, TableCellHeight } from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { RowLink } from './links.ts';
import { type Described, dress, type Steps } from './look.ts';
import { mapping, type Words } from './states.ts';
import { refId, rows } from './targets.ts';

interface Column {
  readonly title: string;
  readonly width?: number;
  /** The text and colour for each value. */
  readonly words?: Words;
  readonly links?: readonly RowLink[];
}

/** A label of the queries. */
export interface LabelColumn extends Column {
  readonly label: string;
}

/** A query, and the column of its values. */
export interface ValueColumn extends Column {
  readonly expr: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly steps?: Steps;
}

/** A query that is there for its labels. */
export interface LabelQuery {
  readonly expr: string;
  readonly title?: never;
}

export interface TableSpec extends Described {
  /** The width in columns of 24, of which it otherwise has all. */
  readonly width?: number;
  readonly height: number;
  readonly labels: readonly LabelColumn[];
  /** Their rows are joined by the labels that they share. */
  readonly values: readonly (ValueColumn | LabelQuery)[];
  /** Puts the columns of values before those of labels. */
  readonly valuesFirst?: boolean;
  readonly sortBy: string;
  readonly descending?: boolean;
  /** The text of an empty table. */
  readonly empty: string;
}

/** Rows from instant queries: one column for each label named, then one for each query. */
export function table(spec: TableSpec): { build(): Panel } {
  const { labels, values, sortBy, descending = false, empty } = spec;
  // Grafana calls the values of one query `Value`, those of several `Value #A` and so on.
  const names = values.map((_, index) => (values.length === 1 ? 'Value' : `Value #${refId(index)}`));
  const labelColumns = labels.map((column) => ({ name: column.label, column }));
  const valueColumns = values.flatMap((column, index) =>
    column.title === undefined ? [] : [{ name: names[index] ?? '', column }],
  );
  const columns = spec.valuesFirst ? [...valueColumns, ...labelColumns] : [...labelColumns, ...valueColumns];
  const order = columns.map(({ name }) => name);
  const panel = dress(new PanelBuilder(), { width: 24, ...spec, unit: 'none' })
    .targets(rows(values))
    .transformations([
      ...(values.length > 1 ? [{ id: 'merge', options: {} }] : []),
      { id: 'filterFieldsByName', options: { include: { names: order } } },
      {
        id: 'organize',
        options: {
          excludeByName: {},
          indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
          renameByName: {},
        },
      },
    ])
    .noValue(empty)
    .cellHeight(TableCellHeight.Sm)
    .filterable(true)
    .sortBy([{ build: () => ({ displayName: sortBy, desc: descending }) }])
    .footer({ build: () => ({ show: false, reducer: [], enablePagination: true }) });
  for (const { name, column } of columns) panel.overrideByName(name, properties(column));
  return { build: () => paginated(panel.build()) };
}

/** Grafana 10 and 11 look for it in the footer, as the SDK does; later ones here. */
function paginated(panel: Panel): Panel {
  return { ...panel, options: { ...panel.options, enablePagination: true } };
}

function properties(column: LabelColumn | ValueColumn): DynamicConfigValue[] {
  const { title, width, words, links = [] } = column;
  const shared = [
    { id: 'displayName', value: title },
    // The text of an empty table would appear in each empty cell too. A space leaves nothing to
    // click on in a column with a link.
    { id: 'noValue', value: '\u00a0' },
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(links.length === 0 ? [] : [{ id: 'links', value: links.map((link) => ({ ...link })) }]),
  ];
  if (!('expr' in column))
    return [...shared, ...(words ? [{ id: 'mappings', value: [mapping(words)] }, colouredText] : [])];
  const { unit, decimals, steps } = column;
  return [
    ...shared,
    { id: 'mappings', value: [...(words ? [mapping(words)] : []), notKnown] },
    ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(steps === undefined ? [] : [stepsProperty(steps)]),
    ...(words || steps ? [colouredText] : []),
  ];
}

const colouredText = { id: 'custom.cellOptions', value: { type: TableCellDisplayMode.ColorText } };

/** No number is neither good nor bad: without this it would have the colour of the lowest. */
const notKnown: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: '–', color: 'text', index: 99 } },
};

function stepsProperty(steps: Steps): DynamicConfigValue {
  const value = { mode: ThresholdsMode.Absolute, steps: steps.map(([value, color]) => ({ value, color })) };
  return { id: 'thresholds', value };
}
