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
import { type RowLink, toAppliance, toFarm, toRunbook } from './links.ts';
import { type Described, dress, expirySteps, property, type Steps, type Titled } from './look.ts';
import { mapping, numberedWords, stateNumber, type Words, words } from './states.ts';
import { refId, rows } from './targets.ts';

interface Column {
  readonly title: string;
  readonly width?: number;
  /** The text and colour for each value. */
  readonly words?: Words;
  readonly links?: readonly RowLink[];
}

/** A label of the queries. */
interface LabelColumn extends Column {
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

/** The columns of labels as they usually are. */
const usualColumns = {
  alertname: { title: 'Alert', links: [toRunbook] },
  appliance: { title: 'Appliance', links: [toAppliance] },
  backend: { title: 'Backend' },
  code: { title: 'Answer', width: 90 },
  collector: { title: 'Collector' },
  common_name: { title: 'Name' },
  edition: { title: 'Edition' },
  endpoint: { title: 'Operation' },
  farm: { title: 'Farm', links: [toFarm] },
  file: { title: 'File' },
  hostname: { title: 'Host name' },
  instance: { title: 'Target' },
  interface: { title: 'Interface' },
  ip: { title: 'Address' },
  issuer: { title: 'Issuer' },
  job: { title: 'Job' },
  kernel: { title: 'Kernel' },
  kind: { title: 'Kind' },
  method: { title: 'Method', width: 90 },
  node_version: { title: 'Node.js' },
  object: { title: 'What' },
  objective: { title: 'Objective' },
  parent: { title: 'Parent' },
  principal: { title: 'Who' },
  product: { title: 'Product' },
  profile: { title: 'Profile', width: 90 },
  reason: { title: 'Reason' },
  role: { title: 'Cluster role', words: words({ not_configured: ['none', 'text'] }) },
  server_name: { title: 'Name asked for' },
  site: { title: 'Site' },
  service: { title: 'Service' },
  version: { title: 'Version' },
  vip: { title: 'Address' },
  vport: { title: 'Port', width: 90 },
} satisfies Record<string, Column>;

export interface TableSpec extends Described {
  /** The width in columns, at most 24 (the default). */
  readonly width?: number;
  readonly height: number;
  /** Names of usual columns, and columns that differ from them. */
  readonly labels: readonly (keyof typeof usualColumns | LabelColumn)[];
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
export const table =
  (spec: TableSpec): Titled =>
  (title) => {
    const { labels, values, sortBy, descending = false, empty } = spec;
    // Grafana calls the values of one query `Value`, those of several `Value #A` and so on.
    const names = values.map((_, index) => (values.length === 1 ? 'Value' : `Value #${refId(index)}`));
    const withSite = labels.flatMap((label) =>
      (typeof label === 'string' ? label : label.label) === 'appliance' ? (['site', label] as const) : [label],
    );
    const labelColumns = withSite
      .map((label) => (typeof label === 'string' ? { label, ...usualColumns[label] } : label))
      .map((column) => ({ name: column.label, column }));
    const valueColumns = values.flatMap((column, index) =>
      column.title === undefined ? [] : [{ name: names[index] ?? '', column }],
    );
    const columns = spec.valuesFirst ? [...valueColumns, ...labelColumns] : [...labelColumns, ...valueColumns];
    const order = columns.map(({ name }) => name);
    const panel = dress(new PanelBuilder(), { title, width: 24, ...spec, unit: 'none' })
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
  };

/** Restricts every query to the rows that another query has, by these labels. */
export function only<Query extends { readonly expr: string }>(
  queries: readonly Query[],
  by: string,
  rows: string,
): readonly Query[] {
  return queries.map((query) => ({ ...query, expr: `(${query.expr}) and on (${by}) ${rows}` }));
}

/** Returns the column of a state set; a number stands for each state. */
export function stateColumn(title: string, metric: string, by: string, ...matchers: readonly string[]): ValueColumn {
  return { title, expr: stateNumber(metric, by, ...matchers), words: numberedWords(metric) };
}

/** Returns the column of a share, in whole per cent. */
export function share(title: string, expr: string, steps?: Steps): ValueColumn {
  return { title, expr, unit: 'percentunit', decimals: 0, ...(steps && { steps }) };
}

/** Returns the column of a Unix time. */
export function date(title: string, expr: string): ValueColumn {
  return { title, expr: `1000 * ${expr}`, unit: 'dateTimeAsIso' };
}

/** Returns the column of the time since then. */
export function timeSince(
  title: string,
  expr: string,
  more: Pick<ValueColumn, 'decimals' | 'steps'> = {},
): ValueColumn {
  return { title, expr, unit: 'dtdurations', ...more };
}

/** Returns the column of the time until an end, in red once it is past. */
export function timeLeft(title: string, expr: string): ValueColumn {
  return { title, expr, unit: 'dtdhms', steps: expirySteps };
}

/** Grafana 10 and 11 look for it in the footer, as the SDK does; later ones here. */
function paginated(panel: Panel): Panel {
  return { ...panel, options: { ...panel.options, enablePagination: true } };
}

function properties(column: LabelColumn | ValueColumn): DynamicConfigValue[] {
  const { title, width, words, links = [] } = column;
  const shared = [
    property('displayName', title),
    // The text of an empty table would appear in each empty cell too. A space leaves nothing to
    // click on in a column with a link.
    property('noValue', '\u00a0'),
    ...(width === undefined ? [] : [property('custom.width', width)]),
    ...(links.length === 0 ? [] : [property('links', links)]),
  ];
  if (!('expr' in column)) return [...shared, ...(words ? [property('mappings', [mapping(words)]), colouredText] : [])];
  const { unit, decimals, steps } = column;
  return [
    ...shared,
    property('mappings', [...(words ? [mapping(words)] : []), notKnown]),
    ...(unit === undefined ? [] : [property('unit', unit)]),
    ...(decimals === undefined ? [] : [property('decimals', decimals)]),
    ...(steps === undefined ? [] : [stepsProperty(steps)]),
    ...(words || steps ? [colouredText] : []),
  ];
}

const colouredText = property('custom.cellOptions', { type: TableCellDisplayMode.ColorText });

/** No number is neither good nor bad: without this it would have the colour of the lowest. */
const notKnown: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: '–', color: 'text', index: 99 } },
};

function stepsProperty(steps: Steps): DynamicConfigValue {
  const values = steps.map(([value, color]) => ({ value, color }));
  return property('thresholds', { mode: ThresholdsMode.Absolute, steps: values });
}
