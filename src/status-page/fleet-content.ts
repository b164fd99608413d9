import { activationTable, certificateTable, sortedActivations, sortedCertificates } from './certificate-table.ts';
import { applianceTable } from './appliance-table.ts';
import { changeList, emptyNote, moreLink, paginate, pagination, panel, problemList, singlePanel } from './section.ts';
import { type ExporterFacts, exporterPanel, linkPanel } from './exporter-panel.ts';
import { html, type Markup } from './html.ts';
import type { Problem } from './problem.ts';
import { severityRank } from './severity.ts';
import type { ApplianceHealth, HealthSummary } from './health-summary.ts';
import { type OverallStatus, overallStatusHeading } from './overall-status.ts';
import type { List, View } from './view.ts';

/** Maximum rows on the first page, so that a thousand appliances stay readable and small. */
const maxRows = { problems: 20, appliances: 50, certificates: 12, activations: 8, changes: 15 } as const;
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
  const rest = (all: readonly unknown[], list: List): Markup | false =>
    moreLink(all.length - maxRows[list], { kind: 'list', list, page: 1 });
  return html`${overallStatusHeading(overallStatus)}
<div class="columns"><div>
${problems.length > 0 && panel('problems', 'What is wrong now', [problemList(problems.slice(0, maxRows.problems), takenAtMs), rest(problems, 'problems')])}
${panel(
  'appliances',
  'Appliances',
  perAppliance.length === 0
    ? emptyNote('None is configured, or none falls to this shard.')
    : [applianceTable(appliances.slice(0, maxRows.appliances), takenAtMs), rest(appliances, 'appliances')],
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
    return html`<p class="back"><a href="./">All appliances</a></p>
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

/** Sorts the worst first, then in the order of the configuration. */
function sortedAppliances(appliances: readonly ApplianceHealth[]): readonly ApplianceHealth[] {
  return appliances.toSorted(
    (one, other) => severityRank(one.level) - severityRank(other.level) || other.problems.length - one.problems.length,
  );
}
