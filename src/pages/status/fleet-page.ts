import { activationTable, certificateTable, sortedActivations, sortedCertificates } from './certificate-table.ts';
import { applianceTable } from './appliance-table.ts';
import { backTo, emptyNote, listPage, moreLink, panel, problemList, rowsOfPage, singlePanel } from './section.ts';
import { type ExporterInfo, exporterPanel, linkPanel } from './exporter-panel.ts';
import { html, type Markup } from '../html.ts';
import { dividerLinks, dividersOf, type Group, groupName, groupsBy, groupTable, sortedAppliances } from './groups.ts';
import { compareProblems, type Problem } from '../../state/problem.ts';
import type { HealthSummary } from '../../state/health.ts';
import { type OverallStatus, overallStatusHeading, overallStatusOf } from './overall-status.ts';
import type { List, View } from './view.ts';

/** The most rows of each list on the first page. */
const maxRows = { problems: 20, appliances: 50, certificates: 12, activations: 8 } as const;
/** From this many appliances on, groups come first, and fewer appliances are listed. */
const minForGroups = 8;
const maxGroups = 20;
const appliancesBesideGroups = 12;

/** A list of the fleet. Its first rows are on the first page, all rows on pages of their own. */
interface FleetList {
  readonly heading: string;
  /** The name of one row. */
  readonly noun: string;
  readonly count: number;
  readonly render: (from: number, to: number) => Markup;
}

/** Returns one list of the fleet; `problems` includes those of the exporter itself. */
function fleetList(list: List, { perAppliance, takenAtMs }: HealthSummary, problems: readonly Problem[]): FleetList {
  switch (list) {
    case 'problems':
      return listOf('What is wrong now', 'problem', problems, (rows) => problemList(rows, takenAtMs));
    case 'appliances':
      return listOf('Appliances', 'appliance', sortedAppliances(perAppliance), (rows) =>
        applianceTable(rows, takenAtMs),
      );
    case 'certificates':
      return listOf('Certificates', 'certificate', sortedCertificates(perAppliance), (rows) =>
        certificateTable(rows, takenAtMs),
      );
    case 'activations':
      return listOf('Activation', 'appliance', sortedActivations(perAppliance), (rows) =>
        activationTable(rows, takenAtMs),
      );
  }
}

function listOf<Row>(
  heading: string,
  noun: string,
  rows: readonly Row[],
  render: (rows: readonly Row[]) => Markup,
): FleetList {
  return { heading, noun, count: rows.length, render: (from, to) => render(rows.slice(from, to)) };
}

export function fleetPage(
  summary: HealthSummary,
  /** Includes those of the exporter itself. */
  problems: readonly Problem[],
  overallStatus: OverallStatus,
  exporter: ExporterInfo,
  events: Markup,
): Markup {
  const { perAppliance } = summary;
  const [by, ...otherDividers] = perAppliance.length < minForGroups ? [] : dividersOf(perAppliance);
  const firstRows = (list: List, ifEmpty: string, maxRowsShown: number = maxRows[list]): Markup => {
    const { heading, count, render } = fleetList(list, summary, problems);
    const rows = [render(0, maxRowsShown), moreLink(count - maxRowsShown, { kind: 'list', list })];
    return panel(list, heading, count === 0 ? emptyNote(ifEmpty) : rows);
  };
  return html`${overallStatusHeading(overallStatus)}
<div class="columns"><div>
${by !== undefined && groupsPanel(groupsBy(by, perAppliance), by, otherDividers)}
${problems.length > 0 && firstRows('problems', '')}
${firstRows('appliances', 'None is configured, or none is assigned to this shard.', by === undefined ? maxRows.appliances : appliancesBesideGroups)}
${events}
</div><div>
${firstRows('certificates', 'No certificate is known.')}
${perAppliance.length > 0 && firstRows('activations', '')}
${panel('exporter', 'The exporter itself', exporterPanel(exporter, summary))}
${panel('links', 'Elsewhere', linkPanel(exporter))}
</div></div>`;
}

function groupsPanel(groups: readonly Group[], by: string, otherDividers: readonly string[]): Markup {
  return panel('groups', html`By <bdi>${by}</bdi>`, [
    groupTable(groups.slice(0, maxGroups)),
    moreLink(groups.length - maxGroups, { kind: 'groups', by }),
    dividerLinks(otherDividers),
  ]);
}

export function fleetListPage(
  view: View & { readonly kind: 'list' },
  summary: HealthSummary,
  problems: readonly Problem[],
): Markup {
  const { heading, ...list } = fleetList(view.list, summary, problems);
  return html`${backTo()}
${singlePanel(view.list, heading, listPage({ view, ...list }))}`;
}

export function groupsPage(view: View & { readonly kind: 'groups' }, summary: HealthSummary): Markup {
  const { by } = view;
  const groups = groupsBy(by, summary.perAppliance);
  const render = (from: number, to: number): Markup => groupTable(groups.slice(from, to));
  const others = dividersOf(summary.perAppliance).filter((each) => each !== by);
  return html`${backTo()}
${singlePanel('groups', html`Appliances by <bdi>${by}</bdi>`, [
  listPage({ view, count: groups.length, noun: 'group', render }),
  dividerLinks(others),
])}`;
}

export function groupPage(view: View & { readonly kind: 'group' }, { perAppliance, takenAtMs }: HealthSummary): Markup {
  const { by, group } = view;
  const appliances = groupsBy(by, perAppliance).find(({ value }) => value === group)?.appliances ?? [];
  const problems = appliances.flatMap((each) => each.problems).toSorted(compareProblems);
  const render = (from: number, to: number): Markup => applianceTable(appliances.slice(from, to), takenAtMs);
  return html`${backTo()}
<p class="name">${groupName({ by, value: group })}</p>
${overallStatusHeading(overallStatusOf(appliances, problems))}
${problems.length > 0 && panel('problems', 'What is wrong now', problemList(problems.slice(0, rowsOfPage), takenAtMs))}
${panel('appliances', 'Appliances', listPage({ view, count: appliances.length, noun: 'appliance', render }))}`;
}
