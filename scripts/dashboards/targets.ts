import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import { datasource } from './variables.ts';

export interface Query {
  readonly expr: string;
  /** The name of a series, with `{{label}}`; tables need none. */
  readonly legend?: string;
}

/** The state at the end of the range. */
export function instant(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => target(query, index).instant().format(PromQueryFormat.TimeSeries));
}

/** The state at the end of the range, a row for each series. */
export function rows(queries: readonly Query[]): DataqueryBuilder[] {
  return queries.map((query, index) => target(query, index).instant().format(PromQueryFormat.Table));
}

/** The course over the range. */
export function range(queries: readonly Query[], format = PromQueryFormat.TimeSeries): DataqueryBuilder[] {
  return queries.map((query, index) => target(query, index).range().format(format));
}

/** A, B, C … */
export function refId(index: number): string {
  return String.fromCodePoint('A'.codePointAt(0)! + index);
}

function target({ expr, legend }: Query, index: number): DataqueryBuilder {
  const builder = new DataqueryBuilder()
    .refId(refId(index))
    .datasource(datasource)
    .editorMode(QueryEditorMode.Code)
    .expr(expr);
  return legend === undefined ? builder : builder.legendFormat(legend);
}
