import { html, type Markup } from '../../src/status-page/html.ts';
import { fieldOf, inUnit, type Panel, show } from './board.ts';

/** A series of a query; an instant query has one value. */
export interface Series {
  readonly refId: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: number])[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Colours by the names that the dashboards use. */
const colors: Readonly<Record<string, string>> = {
  green: '#73bf69',
  red: '#f2495c',
  orange: '#ff9830',
  yellow: '#fade2a',
  blue: '#5794f2',
  purple: '#b877d9',
  text: '#8e8e99',
};
const lineColors = ['#73bf69', '#fade2a', '#5794f2', '#ff9830', '#f2495c', '#b877d9', '#8ab8ff', '#c0d8ff', '#ffa6b0'];

/** Draws the content of a panel. */
export function drawPanel(panel: Panel, series: readonly Series[], span: Span): Markup {
  if (series.length === 0 && panel.type !== 'stat') return html`<p class="empty">${fieldOf(panel, '').noValue}</p>`;
  switch (panel.type) {
    case 'stat':
      return drawStat(panel, series);
    case 'table':
      return drawTable(panel, series);
    case 'bargauge':
      return drawBars(panel, series);
    case 'state-timeline':
      return drawStates(panel, series, span);
    case 'timeseries':
      return drawLines(panel, series, span);
    case 'heatmap':
      throw new Error(`${panel.title}: heat maps are in collapsed rows, which are not drawn`);
  }
}

const lastOf = ({ values }: Series): number | undefined => values.at(-1)?.[1];
const colorOf = (name: string | undefined): string => colors[name ?? 'text'] ?? name ?? '';

function drawStat(panel: Panel, [first]: readonly Series[]): Markup {
  const { text, color } = show(fieldOf(panel, first?.name ?? ''), first && lastOf(first));
  return html`<p class="stat" style="background: ${colorOf(color)}">${text}</p>`;
}

function drawBars(panel: Panel, series: readonly Series[]): Markup {
  const most = Math.max(1, ...series.map((each) => lastOf(each) ?? 0));
  const rows = series.map((each) => {
    const { text, color } = show(fieldOf(panel, each.name), lastOf(each));
    const width = (100 * (lastOf(each) ?? 0)) / most;
    return html`<tr><td class="name">${each.name}</td>
<td class="bar"><i style="width: ${width.toFixed(1)}%; background: ${colorOf(color)}"></i></td><td>${text}</td></tr>`;
  });
  return html`<table class="bars">${rows}</table>`;
}

type Row = Readonly<Record<string, string | number>>;

function drawTable(panel: Panel, series: readonly Series[]): Markup {
  const names = panel.transformations?.find(({ id }) => id === 'filterFieldsByName')?.options.include?.names ?? [];
  const merges = panel.transformations?.some(({ id }) => id === 'merge') ?? false;
  const columns = names.map((name) => ({ name, field: fieldOf(panel, name) }));
  const rows = sorted(panel, merged(series, merges));
  const cell = ({ name, field }: (typeof columns)[number], row: Row): Markup => {
    const { text, color } = show({ ...field, noValue: '' }, row[name]);
    return html`<td style="${color === undefined ? '' : `color: ${colorOf(color)}`}">${text}</td>`;
  };
  return html`<table><tr>${columns.map(({ name, field }) => html`<th>${field.displayName ?? name}</th>`)}</tr>
${rows.map((row) => html`<tr>${columns.map((column) => cell(column, row))}</tr>`)}</table>`;
}

/** Joins the rows of several queries whose common labels agree. */
function merged(series: readonly Series[], merges: boolean): readonly Row[] {
  const rows: Row[] = [];
  for (const { refId, labels, values } of series) {
    const added = { ...labels, [merges ? `Value #${refId}` : 'Value']: values.at(-1)?.[1] ?? Number.NaN };
    const fitting = merges ? rows.filter((row) => agree(row, labels)) : [];
    for (const row of fitting) Object.assign(row, added);
    if (fitting.length === 0) rows.push(added);
  }
  return rows;
}

function agree(row: Row, labels: Series['labels']): boolean {
  const common = Object.keys(labels).filter((name) => name in row);
  return common.length > 0 && common.every((name) => row[name] === labels[name]);
}

function sorted(panel: Panel, rows: readonly Row[]): readonly Row[] {
  const [by] = panel.options.sortBy ?? [];
  if (!by) return rows;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const name = names.find((each) => (fieldOf(panel, each).displayName ?? each) === by.displayName) ?? '';
  const compare = (one: Row, other: Row): number => {
    const [a = '', b = ''] = [one[name], other[name]];
    return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  };
  return rows.toSorted((one, other) => (by.desc ? -compare(one, other) : compare(one, other)));
}

function drawStates(panel: Panel, series: readonly Series[], { from, to }: Span): Markup {
  const percent = (seconds: number): number => (100 * (seconds - from)) / (to - from);
  const seen = new Map<string, string>();
  const rows = series.map((each) => {
    const field = fieldOf(panel, each.name);
    const stepSeconds = stepOf(series);
    const parts = runsOf(each.values, stepSeconds).map(({ value, since, until }) => {
      const { text, color } = show(field, value);
      seen.set(text, colorOf(color));
      const [left, width] = [percent(since), percent(until) - percent(since)];
      return html`<i style="left: ${left.toFixed(2)}%; width: ${width.toFixed(2)}%; background: ${colorOf(color)}">${text}</i>`;
    });
    return html`<tr><td class="name">${each.name}</td><td class="states"><div>${parts}</div></td></tr>`;
  });
  return html`<table class="timeline">${rows}</table>
<p class="legend">${[...seen].map(([text, color]) => html`<span><b style="background: ${color}"></b>${text}</span>`)}</p>`;
}

function stepOf(series: readonly Series[]): number {
  const [first, second] = series.find(({ values }) => values.length > 1)?.values ?? [];
  return first && second ? second[0] - first[0] : 1;
}

/** Joins equal values that follow each other without a gap. */
function runsOf(values: Series['values'], stepSeconds: number) {
  const runs: { value: number; since: number; until: number }[] = [];
  for (const [seconds, value] of values) {
    const last = runs.at(-1);
    if (last?.value === value && seconds <= last.until) last.until = seconds + stepSeconds;
    else runs.push({ value, since: seconds, until: seconds + stepSeconds });
  }
  return runs;
}

const [width, height] = [600, 150];

function drawLines(panel: Panel, series: readonly Series[], { from, to }: Span): Markup {
  const { custom, ...field } = fieldOf(panel, '');
  const stacked = custom?.stacking?.mode === 'normal' ? stack(series) : series;
  const numbers = stacked.flatMap(({ values }) => values.map(([, value]) => value));
  const ticks = ticksOf(Math.min(0, ...numbers), Math.max(...numbers), field.unit === 'bytes' || field.unit === 'Bps');
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const x = (seconds: number): number => (width * (seconds - from)) / (to - from);
  const y = (value: number): number => height - (height * (value - low)) / (high - low);
  const lines = stacked.map(({ values }, index) => {
    const points = values.map(([seconds, value]) => `${x(seconds).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return html`<polyline points="${points}" stroke="${lineColors[index % lineColors.length]}"/>`;
  });
  const grid = ticks.map((tick) => html`<line x1="0" x2="${width}" y1="${y(tick)}" y2="${y(tick)}"/>`);
  const labels = ticks.map(
    (tick) => html`<span style="top: ${((100 * y(tick)) / height).toFixed(1)}%">${inUnit(tick, field)}</span>`,
  );
  const names = series.map(
    ({ name }, index) => html`<span><b style="background: ${lineColors[index % lineColors.length]}"></b>${name}</span>`,
  );
  return html`<div class="graph"><div class="axis">${labels}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${grid}${lines}</svg></div>
<p class="legend">${names}</p>`;
}

/** Adds each series to those before it. */
function stack(series: readonly Series[]): readonly Series[] {
  const sums = new Map<number, number>();
  return series.map((each) => ({
    ...each,
    values: each.values.map(([seconds, value]) => {
      sums.set(seconds, (sums.get(seconds) ?? 0) + value);
      return [seconds, sums.get(seconds) ?? 0] as const;
    }),
  }));
}

/** Returns up to six round numbers that span the values. */
function ticksOf(low: number, high: number, binary: boolean): readonly number[] {
  const range = high > low ? high - low : 1;
  const rough = range / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const decimal = power * ([1, 2, 5].find((factor) => power * factor >= rough) ?? 10);
  const step = binary ? 2 ** Math.ceil(Math.log2(rough)) : decimal;
  const first = Math.floor(low / step);
  const count = Math.ceil((low + range) / step) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}
