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

export interface FleetContentParts {
  readonly summary: HealthSummary;
  /** Includes the problems of the exporter itself. */
  readonly problems: readonly Problem[];
  readonly overallStatus: OverallStatus;
  readonly facts: ExporterFacts;
}

/** Renders the fleet, problems first. */
export function fleetContent({ summary, problems, overallStatus, facts }: FleetContentParts): Markup {
  const { perAppliance, transitions, takenAtMs } = summary;
  const appliances = sortedAppliances(perAppliance);
  const certificates = sortedCertificates(perAppliance);
  const activations = sortedActivations(perAppliance);
  const [by, ...otherDividers] = perAppliance.length < leastForGroups ? [] : dividersOf(perAppliance);
  const mostAppliances = by === undefined ? maxRows.appliances : appliancesBesideGroups;
  const rest = (all: readonly unknown[], list: List, most: number = maxRows[list]): Markup | false =>
    moreLink(all.length - most, { kind: 'list', list, page: 1 });
  return html`${overallStatusHeading(overallStatus)}
<div class="columns"><div>
${by !== undefined && groupsPanel(groupsBy(by, perAppliance), by, otherDividers)}
${problems.length > 0 && panel('problems', 'What is wrong now', [problemList(problems.slice(0, maxRows.problems), takenAtMs), rest(problems, 'problems')])}
${panel(
  'appliances',
  'Appliances',
  perAppliance.length === 0
    ? emptyNote('None is configured, or none falls to this shard.')
    : [applianceTable(appliances.slice(0, mostAppliances), takenAtMs), rest(appliances, 'appliances', mostAppliances)],
)}
${panel(
  'changes',
  'Recent changes',
  transitions.length === 0
    ? emptyNote('No state has changed since the exporter was started.')
    : [changeList(transitions.slice(0, maxRows.changes)), rest(transitions, 'changes')],
)}
</div><div>
${panel(
  'certificates',
  'Certificates',
  certificates.length === 0
    ? emptyNote('No certificate is known.')
    : [certificateTable(certificates.slice(0, maxRows.certificates), takenAtMs), rest(certificates, 'certificates')],
)}
${perAppliance.length > 0 && panel('activations', 'Activation', [activationTable(activations.slice(0, maxRows.activations), takenAtMs), rest(activations, 'activations')])}
${panel('exporter', 'The exporter itself', exporterPanel(facts, summary))}
${panel('links', 'Elsewhere', linkPanel(facts))}
</div></div>`;
}

function groupsPanel(groups: readonly Group[], by: string, otherDividers: readonly string[]): Markup {
  return panel('groups', html`By <bdi>${by}</bdi>`, [
    groupTable(groups.slice(0, maxGroups)),
    moreLink(groups.length - maxGroups, { kind: 'groups', by, page: 1 }),
    dividerLinks(otherDividers),
  ]);
}

/** Renders one list in full. */
export function listContent(
  { list, page }: View & { readonly kind: 'list' },
  { perAppliance, transitions, takenAtMs }: HealthSummary,
  problems: readonly Problem[],
): Markup {
  const inPages = <Item>(
    all: readonly Item[],
    heading: string,
    what: string,
    content: (items: readonly Item[]) => Markup,
  ): Markup => {
    const part = paginate(all, page, rowsOfSheet);
    const pages = pagination(part, what, (other) => ({ kind: 'list', list, page: other }));
    return html`${backTo()}
${singlePanel(list, heading, [part.count === 0 ? emptyNote('There is none.') : content(part.items), pages])}`;
  };
  switch (list) {
    case 'problems':
      return inPages(problems, 'What is wrong now', 'problem', (items) => problemList(items, takenAtMs));
    case 'appliances':
      return inPages(sortedAppliances(perAppliance), 'Appliances', 'appliance', (items) =>
        applianceTable(items, takenAtMs),
      );
    case 'certificates':
      return inPages(sortedCertificates(perAppliance), 'Certificates', 'certificate', (items) =>
        certificateTable(items, takenAtMs),
      );
    case 'activations':
      return inPages(sortedActivations(perAppliance), 'Activation', 'appliance', (items) =>
        activationTable(items, takenAtMs),
      );
    case 'changes':
      return inPages(transitions, 'Recent changes', 'change', changeList);
  }
}

/** Renders the groups of a label, or of the edition. */
export function groupsContent({ by, page }: View & { readonly kind: 'groups' }, summary: HealthSummary): Markup {
  const part = paginate(groupsBy(by, summary.perAppliance), page, rowsOfSheet);
  const others = dividersOf(summary.perAppliance).filter((each) => each !== by);
  return html`${backTo()}
${singlePanel('groups', html`Appliances by <bdi>${by}</bdi>`, [
  part.count === 0 ? emptyNote('There is none.') : groupTable(part.items),
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
  const part = paginate(appliances, page, rowsOfSheet);
  return html`${backTo()}
<p class="name">${groupName({ by, value: group })}</p>
${overallStatusHeading(overallStatusOf(appliances, problems))}
${problems.length > 0 && panel('problems', 'What is wrong now', problemList(problems.slice(0, rowsOfSheet), takenAtMs))}
${panel('appliances', 'Appliances', [
  part.count === 0 ? emptyNote('There is none.') : applianceTable(part.items, takenAtMs),
  pagination(part, 'appliance', (other) => ({ kind: 'group', by, group, page: other })),
])}`;
}
