import { readdirSync, readFileSync } from 'node:fs';
import type { Board } from './grafana-types.ts';

const folder = new URL('../../dashboards/', import.meta.url);

export type Panel = Exclude<Board['panels'][number], { readonly type: 'row' }>;

export interface BoardQuery {
  /** Board, panel and reference, to be found again. */
  readonly where: string;
  readonly expr: string;
  readonly kind: 'instant' | 'range' | 'variable' | 'annotation';
}

/** The dashboards as they are, by the names of their files. */
export function dashboardTexts(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(names.map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
}

export function readBoards(): readonly Board[] {
  return [...dashboardTexts().values()].map((text) => JSON.parse(text) as Board);
}

export function panelsOf(board: Board): readonly Panel[] {
  return everythingOn(board).filter((panel): panel is Panel => panel.type !== 'row');
}

/** Rows and panels in their order, with those of collapsed rows. */
export function everythingOn(board: Board): readonly (Board['panels'][number] | Panel)[] {
  return board.panels.flatMap((panel) => (panel.type === 'row' ? [panel, ...panel.panels] : [panel]));
}

/** All that a board asks its data source: by panels, variables and annotations. */
export function queriesOf(board: Board): readonly BoardQuery[] {
  return [
    ...panelsOf(board).flatMap((panel) =>
      panel.targets.map(({ refId, expr, instant }) => ({
        where: `${board.uid} / ${panel.title} / ${refId}`,
        expr,
        kind: instant ? ('instant' as const) : ('range' as const),
      })),
    ),
    ...board.templating.list.flatMap(({ name, query }) =>
      typeof query === 'object' && typeof query['query'] === 'string'
        ? [
            {
              where: `${board.uid} / variable ${name}`,
              expr: labelValues(query['query']).selector,
              kind: 'variable' as const,
            },
          ]
        : [],
    ),
    ...board.annotations.list.map(({ name, expr }) => ({
      where: `${board.uid} / annotation ${name}`,
      expr,
      kind: 'annotation' as const,
    })),
  ];
}

/** `label_values(selector, label)`. */
export function labelValues(query: string): { readonly selector: string; readonly label: string } {
  const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
  if (selector === undefined || label === undefined) throw new Error(`not label_values(selector, label): ${query}`);
  return { selector, label };
}

/** An expression as Grafana sends it, with everything chosen, or with the choices given. */
export function filled(expression: string, choices: Readonly<Record<string, string>> = {}): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__interval', '15s')
    .replaceAll('$__range', '15m')
    .replaceAll(/\$(job|site|appliance|farm|service)\b/g, (_, name: string) => choices[name] ?? '.*');
}
