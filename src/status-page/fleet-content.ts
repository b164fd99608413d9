import { activationTable, certificateTable, sortedActivations, sortedCertificates } from './certificate-table.ts';
import { applianceTable } from './appliance-table.ts';
import {
  backTo,
  changeList,
  emptyNote,
  moreLink,
  paginate,
  pagination,
  panel,
  problemList,
  singlePanel,
} from './section.ts';
import { type ExporterFacts, exporterPanel, linkPanel } from './exporter-panel.ts';
import { html, type Markup } from './html.ts';
import { dividerLinks, dividersOf, type Group, groupName, groupsBy, groupTable, sortedAppliances } from './groups.ts';
import { compareProblems, type Problem } from './problem.ts';
import type { HealthSummary } from './health-summary.ts';
import { type OverallStatus, overallStatusHeading, overallStatusOf } from './overall-status.ts';
import type { List, View } from './view.ts';

/** Maximum rows on the first page, so that a thousand appliances stay readable and small. */
const maxRows = { problems: 20, appliances: 50, certificates: 12, activations: 8, changes: 15 } as const;
/** From this many appliances on, their groups come first, and fewer of them stand alone. */
const leastForGroups = 8;
const maxGroups = 20;
const appliancesBesideGroups = 12;
const rowsOfSheet = 100;

/** A list of the fleet: its first rows are on the first page, all of them on pages of its own. */
interface FleetList {
  readonly heading: string;
  /** The name of one row. */
  readonly noun: string;
  readonly count: number;
  readonly render: (from: number, to: number) => Markup;
}

/** Returns one list of the fleet; `problems` includes those of the exporter itself. */
function fleetList(
  list: List,
  { perAppliance, transitions, takenAtMs }: HealthSummary,
  problems: readonly Problem[],
): FleetList {
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
    case 'changes':
      return listOf('Recent changes', 'change', transitions, changeList);
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

export interface FleetContentParts {
  readonly summary: HealthSummary;
  /** Includes the problems of the exporter itself. */
  readonly problems: readonly Problem[];
  readonly overallStatus: OverallStatus;
  readonly facts: ExporterFacts;
}

/** Renders the fleet, problems first. */
export function fleetContent({ summary, problems, overallStatus, facts }: FleetContentParts): Markup {
  const { perAppliance } = summary;
  const [by, ...otherDividers] = perAppliance.length < leastForGroups ? [] : dividersOf(perAppliance);
  const first = (list: List, ifEmpty: string, most: number = maxRows[list]): Markup => {
    const { heading, count, render } = fleetList(list, summary, problems);
    const rows = [render(0, most), moreLink(count - most, { kind: 'list', list })];
    return panel(list, heading, count === 0 ? emptyNote(ifEmpty) : rows);
  };
  return html`${overallStatusHeading(overallStatus)}
<div class="columns"><div>
${by !== undefined && groupsPanel(groupsBy(by, perAppliance), by, otherDividers)}
${problems.length > 0 && first('problems', '')}
${first('appliances', 'None is configured, or none falls to this shard.', by === undefined ? maxRows.appliances : appliancesBesideGroups)}
${first('changes', 'No state has changed since the exporter was started.')}
</div><div>
${first('certificates', 'No certificate is known.')}
${perAppliance.length > 0 && first('activations', '')}
${panel('exporter', 'The exporter itself', exporterPanel(facts, summary))}
${panel('links', 'Elsewhere', linkPanel(facts))}
</div></div>`;
}

function groupsPanel(groups: readonly Group[], by: string, otherDividers: readonly string[]): Markup {
  return panel('groups', html`By <bdi>${by}</bdi>`, [
    groupTable(groups.slice(0, maxGroups)),
    moreLink(groups.length - maxGroups, { kind: 'groups', by }),
    dividerLinks(otherDividers),
  ]);
}

/** Renders one list in full. */
export function listContent(
  { list, page }: View & { readonly kind: 'list' },
  summary: HealthSummary,
  problems: readonly Problem[],
): Markup {
  const { heading, noun, count, render } = fleetList(list, summary, problems);
  const part = paginate(count, rowsOfSheet, page);
  return html`${backTo()}
${singlePanel(list, heading, [
  count === 0 ? emptyNote('There is none.') : render(part.from, part.to),
  pagination(part, noun, (other) => ({ kind: 'list', list, page: other })),
])}`;
}

/** Renders the groups of a label, or of the edition. */
export function groupsContent({ by, page }: View & { readonly kind: 'groups' }, summary: HealthSummary): Markup {
  const groups = groupsBy(by, summary.perAppliance);
  const part = paginate(groups.length, rowsOfSheet, page);
  const others = dividersOf(summary.perAppliance).filter((each) => each !== by);
  return html`${backTo()}
${singlePanel('groups', html`Appliances by <bdi>${by}</bdi>`, [
  part.count === 0 ? emptyNote('There is none.') : groupTable(groups.slice(part.from, part.to)),
  pagination(part, 'group', (other) => ({ kind: 'groups', by, page: other })),
  dividerLinks(others),
])}`;
}

/** Renders the problems and the appliances of one group. */
export function groupContent(
  { by, group, page }: View & { readonly kind: 'group' },
  { perAppliance, takenAtMs }: HealthSummary,
): Markup {
  const appliances = groupsBy(by, perAppliance).find(({ value }) => value === group)?.appliances ?? [];
  const problems = appliances.flatMap((each) => each.problems).toSorted(compareProblems);
  const part = paginate(appliances.length, rowsOfSheet, page);
  return html`${backTo()}
<p class="name">${groupName({ by, value: group })}</p>
${overallStatusHeading(overallStatusOf(appliances, problems))}
${problems.length > 0 && panel('problems', 'What is wrong now', problemList(problems.slice(0, rowsOfSheet), takenAtMs))}
${panel('appliances', 'Appliances', [
  part.count === 0 ? emptyNote('There is none.') : applianceTable(appliances.slice(part.from, part.to), takenAtMs),
  pagination(part, 'appliance', (other) => ({ kind: 'group', by, group, page: other })),
])}`;
}
