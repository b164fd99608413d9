import type { Browser } from 'playwright-core';
import { html, type Markup, markupText, trusted } from '../../src/status-page/html.ts';
import { type Board, type Panel, readBoard } from './board.ts';
import { drawPanel, type Series, type Span } from './draw-panel.ts';

const boards = ['fleet', 'appliance', 'farm', 'certificates', 'exporter', 'admin'];
/** Everything is chosen, except where a board is about one appliance. */
const choices: Readonly<Record<string, string>> = { appliance: 'lb-madrid' };

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}

/** Photographs each dashboard, with the data that a Prometheus has of a span. */
export async function takeBoards(
  browser: Browser,
  prometheus: string,
  span: Span,
  save: (name: string) => string,
): Promise<void> {
  for (const name of boards) {
    const board = readBoard(name);
    const page = await browser.newPage({ viewport: { width: 1_360, height: 600 } });
    const chosen = name === 'appliance' ? choices : {};
    const seriesOf = async ({ targets }: Panel): Promise<readonly Series[]> =>
      (await Promise.all(targets.map((target) => ask(prometheus, target, span, chosen)))).flat();
    await page.setContent(await boardPage(board, seriesOf, span));
    await page.screenshot({ path: save(`board-${name}`), fullPage: true });
    await page.close();
  }
}

/** Asks for the series of a query, as Grafana does. */
async function ask(
  prometheus: string,
  { refId, expr, instant, legendFormat }: Panel['targets'][number],
  span: Span,
  chosen: Readonly<Record<string, string>>,
): Promise<readonly Series[]> {
  const query = filled(expr, span, chosen);
  const times = instant ? { time: `${span.to}` } : { start: `${span.from}`, end: `${span.to}`, step: '5' };
  const path = `/api/v1/${instant ? 'query' : 'query_range'}?${new URLSearchParams({ query, ...times }).toString()}`;
  const { data } = (await (await fetch(prometheus + path)).json()) as Answer;
  return data.result.map(({ metric, value, values = value ? [value] : [] }) => ({
    refId,
    name: nameOf(legendFormat, metric),
    labels: metric,
    values: values.map(([seconds, text]) => [seconds, Number(text)] as const),
  }));
}

/** Returns an expression as Grafana sends it. */
function filled(expression: string, { from, to }: Span, chosen: Readonly<Record<string, string>>): string {
  return expression
    .replaceAll('$__rate_interval', '20s')
    .replaceAll('$__interval', '5s')
    .replaceAll('$__range', `${Math.round(to - from)}s`)
    .replaceAll(/\$(job|appliance|farm|service)\b/g, (_, name: string) => chosen[name] ?? '.*');
}

function nameOf(legend: string | undefined, labels: Readonly<Record<string, string>>): string {
  return (legend ?? '').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? '').trim();
}

const rowPixels = 38;

const style = `
body { margin: 0; padding: 12px 16px; background: #111217; color: #ccccdc; font: 12px/1.4 sans-serif; }
h1 { font-size: 17px; font-weight: 600; margin: 0 0 2px; } h1 + p { margin: 0 0 10px; color: #8e8e99; }
main { position: relative; } section { position: absolute; box-sizing: border-box; padding: 3px; }
section > div { box-sizing: border-box; height: 100%; background: #181b1f; border: 1px solid #25282e; border-radius: 2px;
  padding: 6px 8px; display: flex; flex-direction: column; overflow: hidden; }
section.row { font-size: 14px; font-weight: 600; padding: 8px 4px; } section.row::before { content: '▾ '; }
section.collapsed::before { content: '▸ '; } section.collapsed small { font-weight: 400; color: #8e8e99; }
h2 { font-size: 13px; font-weight: 600; margin: 0; } .about { margin: 0 0 4px; color: #8e8e99; font-size: 11px;
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; flex: none; }
.empty { margin: auto; color: #8e8e99; font-size: 14px; }
.stat { flex: 1; margin: 4px -8px -6px; display: grid; place-items: center; font-size: 26px; font-weight: 600; color: #fff;
  text-shadow: 0 0 3px #0008; }
table { border-collapse: collapse; width: 100%; white-space: nowrap; } th { text-align: left; color: #6e9fff; font-weight: 600; }
th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid #25282e; max-width: 230px; overflow: hidden; text-overflow: ellipsis; }
.bars td, .timeline td { border: 0; padding: 2px 8px 2px 0; } td.name { width: 1%; } td.bar { width: 90% } td.bar i { display: block; height: 16px; }
td.states div { position: relative; height: 20px; } td.states i { position: absolute; height: 100%; overflow: hidden;
  color: #111217; font-style: normal; font-size: 11px; text-indent: 3px; line-height: 20px; }
.legend { margin: 4px 0 0; flex: none; max-height: 34px; overflow: hidden; } .legend span { margin-right: 12px; white-space: nowrap; }
.legend b { display: inline-block; width: 12px; height: 4px; margin: 0 5px 3px 0; }
.graph { flex: 1; min-height: 0; margin: 6px 0 4px 62px; position: relative; } svg { width: 100%; height: 100%; overflow: visible; }
.axis span { position: absolute; right: 100%; padding-right: 6px; transform: translateY(-50%); white-space: nowrap; }
line { stroke: #2c3036; vector-effect: non-scaling-stroke; }
polyline { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
`;

/** Returns a page that shows a dashboard about as Grafana does; collapsed rows stay collapsed. */
async function boardPage(
  board: Board,
  seriesOf: (panel: Panel) => Promise<readonly Series[]>,
  span: Span,
): Promise<string> {
  const panels = closedUp(board.panels);
  const parts = await Promise.all(
    panels.map(async (panel) => {
      if (panel.type !== 'row')
        return placed(panel, html`<div>${heading(panel)}${drawPanel(panel, await seriesOf(panel), span)}</div>`);
      const hidden = panel.collapsed && html`<small>(${panel.panels.length} panels)</small>`;
      return placed(panel, html`${panel.title} ${hidden}`, panel.collapsed ? 'row collapsed' : 'row');
    }),
  );
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  return markupText(html`<!doctype html><meta charset="utf-8"><style>${trusted(style)}</style>
<h1>${board.title}</h1>
<p>Drawn by npm run pictures from the JSON of the dashboard and live data of simulated load balancers; not a screen of Grafana.</p>
<main style="height: ${rows * rowPixels}px">${parts}</main>`);
}

/** Moves what follows a collapsed row to its place, as Grafana does. */
function closedUp(panels: Board['panels']): Board['panels'] {
  let hidden = 0;
  return panels.map((panel) => {
    const moved = { ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - hidden } };
    if (panel.type === 'row' && panel.collapsed)
      hidden += Math.max(...panel.panels.map(({ gridPos: { y, h } }) => y + h)) - panel.gridPos.y - panel.gridPos.h;
    return moved;
  });
}

function heading({ title, description, gridPos }: Panel): Markup {
  return html`<h2>${title}</h2>${gridPos.w >= 8 && html`<p class="about">${description}</p>`}`;
}

function placed({ gridPos: { x, y, w, h } }: Pick<Panel, 'gridPos'>, content: Markup, look = ''): Markup {
  const across = (columns: number): string => `${((100 * columns) / 24).toFixed(3)}%`;
  const at = `left: ${across(x)}; width: ${across(w)}; top: ${y * rowPixels}px; height: ${h * rowPixels}px`;
  return html`<section class="${look}" style="${at}">${content}</section>`;
}
