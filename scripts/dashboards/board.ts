import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { alertTable } from './common-tables.ts';
import { exporterPage, linksToBoards, tag } from './links.ts';
import type { Titled } from './look.ts';
import { changesMade, exporterSeries, farmId, firing, inFarm, once, series } from './queries.ts';
import { datasource, type VariableName, variables } from './variables.ts';

export interface BoardSpec {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables?: readonly VariableName[];
  readonly from: string;
  /** Marks changes of the configuration: all of the appliances, or the last one of each farm. */
  readonly changesOf?: 'appliances' | 'farms';
  /** Matchers of the alerts that the first panel of the first section shows. */
  readonly alerts?: readonly string[];
  /** By their headings. */
  readonly sections: Readonly<Record<string, Section>>;
}

/** Panels by their titles; those of a row add up to the width of 24. */
type Panels = Readonly<Record<string, Titled>>;

export interface Section {
  readonly panels: Panels;
  readonly isCollapsed: boolean;
}

export function section(panels: Panels): Section {
  return { panels, isCollapsed: false };
}

/** Nobody needs it first: it is opened by a click, and asks nothing before. */
export function collapsed(panels: Panels): Section {
  return { panels, isCollapsed: true };
}

/** Creates a board with the settings that all boards share. */
export function board(spec: BoardSpec): Dashboard {
  const builder = new DashboardBuilder(`Load balancers / ${spec.title}`)
    .uid(spec.uid)
    .description(spec.description)
    .tags([tag])
    .editable()
    .timezone('browser')
    .time({ from: spec.from, to: 'now' })
    .refresh(refreshOf(spec.from))
    .tooltip(DashboardCursorSync.Crosshair)
    .variables(variables(spec.variables ?? []))
    .annotations([...annotations(), ...(spec.changesOf ? [configurationChanges[spec.changesOf]()] : [])])
    .links([linksToBoards()]);
  const alerts = { 'What is wrong now': alertTable(spec.alerts) };
  for (const [index, [heading, { panels, isCollapsed }]] of Object.entries(spec.sections).entries()) {
    const row = new RowBuilder(heading);
    const byTitle = index === 0 ? { ...alerts, ...panels } : panels;
    const built = Object.entries(byTitle).map(([title, panel]) => panel(title));
    // Grafana keeps the panels of a collapsed row within it.
    if (isCollapsed) for (const panel of built) row.withPanel(panel);
    builder.withRow(row);
    if (!isCollapsed) for (const panel of built) builder.withPanel(panel);
  }
  return tidied(builder.build());
}

/** Returns how often a board loads: less often the longer its range is. */
function refreshOf(from: string): string {
  const refreshes: Readonly<Record<string, string>> = { 'now-6h': '1m', 'now-24h': '5m', 'now-7d': '15m' };
  const refresh = refreshes[from];
  if (refresh === undefined) throw new Error(`no refresh is known for a board from ${from}`);
  return refresh;
}

/**
 * Gives panels their numbers, and takes out what the SDK fills in that Grafana's schema lacks or
 * that hides links in a menu.
 */
function tidied(built: Dashboard): Dashboard {
  return {
    ...built,
    templating: {
      list: (built.templating.list ?? []).map((variable) => without(variable, 'auto', 'auto_min', 'auto_count')),
    },
    annotations: { list: (built.annotations.list ?? []).map((annotation) => without(annotation, 'placement')) },
    links: (built.links ?? []).map((link) => without(link, 'placement')),
    panels: numbered(built.panels ?? []),
  };
}

function numbered(panels: NonNullable<Dashboard['panels']>): NonNullable<Dashboard['panels']> {
  let id = 0;
  const next = <Each extends object>(panel: Each): Each & { readonly id: number } => ({ ...panel, id: (id += 1) });
  return panels.map((panel) => ('panels' in panel ? { ...next(panel), panels: panel.panels.map(next) } : next(panel)));
}

function without<Part extends object>(part: Part, ...keys: readonly string[]): Part {
  return Object.fromEntries(Object.entries(part).filter(([key]) => !keys.includes(key))) as Part;
}

/** Returns the events that are drawn across the panels. */
function annotations(): AnnotationQueryBuilder[] {
  const version = `group by (site, appliance, version) (${series('zlb_appliance_info')}`;
  const written = `sum by (site, appliance, method, endpoint) (${changesMade}`;
  return [
    annotation('Critical alerts', 'red', firing('severity="critical"'))
      .titleFormat('{{alertname}}')
      .textFormat('{{appliance}} {{farm}} {{file}}')
      .enable(false),
    annotation(
      'New versions',
      'purple',
      `${version}) unless ${version} offset 10m) and on (site, appliance) ${version} offset 10m)`,
    )
      .titleFormat('New version')
      .textFormat('{{appliance}} runs {{version}}'),
    annotation(
      'Configuration reloads',
      'blue',
      `${exporterSeries('zlb_exporter_config_last_reload_success_timestamp_seconds')} * 1000`,
    )
      .titleFormat('Configuration read')
      .textFormat('{{instance}}')
      .useValueForTime(true),
    // The first write of a kind makes a series; what was not there a minute ago counts from 0.
    annotation('Changes through the gateway', 'orange', `${written}) > (${written} offset 1m) or 0 * ${written}))`)
      .titleFormat('{{method}} {{endpoint}}')
      .textFormat('{{appliance}}'),
  ];
}

const configurationChanges = {
  appliances: () => {
    const changes = (offset: string) =>
      once('site, appliance, object, by', `${series('zlb_configuration_changes_total')}${offset}`);
    return annotation('Configuration changes', 'yellow', `${changes('')} > ${changes(' offset 1m')}`)
      .titleFormat('{{object}} changed')
      .textFormat(`{{appliance}}, by {{by}} ${timelineLink('appliance')}`);
  },
  farms: () => {
    const changed = series('zlb_farm_configuration_changed_timestamp_seconds', inFarm);
    return annotation('Configuration changes', 'yellow', `${once(farmId, changed)} * 1000`)
      .titleFormat('{{farm}} changed')
      .textFormat(`{{appliance}} ${timelineLink('appliance', 'farm')}`)
      .useValueForTime(true);
  },
};

/** Returns a link of an annotation, which Grafana shows as HTML without what could be a script. */
function timelineLink(...labels: readonly string[]): string {
  const query = labels.map((label) => `${label}={{${label}}}`).join('&');
  return `<a href="${exporterPage}/?list=changes&${query}">What changed</a>`;
}

function annotation(name: string, color: string, expr: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(datasource)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .step('60s');
}
