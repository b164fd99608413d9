import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../dashboards/', import.meta.url);

/** A board as far as tests read it: scripts/dashboards/ builds all of it by Grafana's own types. */
export interface Board {
  readonly uid: string;
  readonly panels: readonly (Panel | Row)[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

/** What a board shows at a place. */
interface Placed {
  readonly id: number;
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
}

interface Row extends Placed {
  readonly type: 'row';
  /** Those of a collapsed row. */
  readonly panels: readonly Panel[];
}

export interface Panel extends Placed {
  readonly type: 'bargauge' | 'heatmap' | 'stat' | 'state-timeline' | 'table' | 'timeseries';
  readonly description: string;
  readonly datasource: unknown;
  readonly options: { readonly sortBy?: readonly { readonly displayName: string }[] };
  readonly targets: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly instant?: boolean;
    readonly datasource: unknown;
  }[];
  readonly transformations?: readonly { readonly id: string; readonly options: unknown }[];
  readonly fieldConfig: {
    readonly defaults: { readonly unit: string };
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
}

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
export function everythingOn(board: Board): readonly (Panel | Row)[] {
  return board.panels.flatMap((panel) => (panel.type === 'row' ? [panel, ...panel.panels] : [panel]));
}

/** All that a board asks its data source: by panels, variables and annotations. */
export function queriesOf(board: Board): readonly BoardQuery[] {
  const { uid, annotations } = board;
  return [
    ...panelsOf(board).flatMap((panel) =>
      panel.targets.map(({ refId, expr, instant }) => ({
        where: `${uid} / ${panel.title} / ${refId}`,
        expr,
        kind: instant ? ('instant' as const) : ('range' as const),
      })),
    ),
    ...variablesOf(board).map(({ name, selector }) => ({
      where: `${uid} / variable ${name}`,
      expr: selector,
      kind: 'variable' as const,
    })),
    ...annotations.list.map(({ name, expr }) => ({
      where: `${uid} / annotation ${name}`,
      expr,
      kind: 'annotation' as const,
    })),
  ];
}

/** The variables whose values are those of a label: `label_values(selector, label)`. */
export function variablesOf({ templating }: Board) {
  return templating.list.flatMap(({ name, definition = '' }) => {
    const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
    return selector === undefined || label === undefined ? [] : [{ name, selector, label }];
  });
}

/** An expression as Grafana sends it, with everything chosen, or with the choices given. */
export function filled(expression: string, choices: Readonly<Record<string, string>> = {}): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__interval', '15s')
    .replaceAll('$__range', '15m')
    .replaceAll(/\$(job|site|appliance|farm|service)\b/g, (_, name: string) => choices[name] ?? '.*');
}
