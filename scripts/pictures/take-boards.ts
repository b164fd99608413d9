import type { Browser } from 'playwright-core';
import { type Panel, readBoard } from './board.ts';
import { boardPage } from './board-page.ts';
import type { Series, Span } from './draw-panel.ts';

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
  { from, to }: Span,
  save: (name: string) => string,
): Promise<void> {
  for (const name of boards) {
    const page = await browser.newPage({ viewport: { width: 1_360, height: 600 } });
    const board = readBoard(name);
    const seriesOf = async (panel: Panel): Promise<readonly Series[]> => {
      const asked = panel.targets.map(async (target) => {
        const query = filled(target.expr, { from, to }, name === 'appliance' ? choices : {});
        const path = target.instant ? 'query' : 'query_range';
        const times = target.instant ? { time: `${to}` } : { start: `${from}`, end: `${to}`, step: '5' };
        const url = `${prometheus}/api/v1/${path}?${new URLSearchParams({ query, ...times }).toString()}`;
        const { data } = (await (await fetch(url)).json()) as Answer;
        return data.result.map(({ metric, value, values = value ? [value] : [] }) => ({
          refId: target.refId,
          name: nameOf(target.legendFormat, metric),
          labels: metric,
          values: values.map(([seconds, text]) => [seconds, Number(text)] as const),
        }));
      });
      return (await Promise.all(asked)).flat();
    };
    await page.setContent(await boardPage({ board, seriesOf, span: { from, to } }));
    await page.screenshot({ path: save(`board-${name}`), fullPage: true });
    await page.close();
  }
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
