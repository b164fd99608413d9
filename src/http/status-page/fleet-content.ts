import { activationTable, sortedActivations } from './activation-table.ts';
import { applianceTable } from './appliance-table.ts';
import { certificateTable, sortedCertificates } from './certificate-table.ts';
import { changeList } from './change-list.ts';
import { type ExporterFacts, exporterPanel, linkPanel } from './exporter-panel.ts';
import { html, type Markup } from './html.ts';
import type { Problem } from './problem.ts';
import { problemList } from './problem-list.ts';
import { more, nothing, section, sheet, turner, whole } from './section.ts';
import { badness } from './sign.ts';
import type { Finding, Survey } from './survey.ts';
import { type Verdict, verdictHeading } from './verdict.ts';
import type { List, View } from './view.ts';

/** What fits on the first page, so that a fleet of a thousand is one glance and few bytes. */
const most = { problems: 20, appliances: 50, certificates: 12, activations: 8, changes: 15 } as const;
const rowsOfSheet = 100;

export interface FleetParts {
  readonly survey: Survey;
  /** Those of the exporter itself included. */
  readonly problems: readonly Problem[];
  readonly verdict: Verdict;
  readonly facts: ExporterFacts;
}

/** All appliances, what is wrong first. */
export function fleetContent({ survey, problems, verdict, facts }: FleetParts): Markup {
  const { findings, transitions, takenAtMs } = survey;
  const appliances = sortedFindings(findings);
  const certificates = sortedCertificates(findings);
  const activations = sortedActivations(findings);
  const rest = (all: readonly unknown[], list: List): Markup | false =>
    more(all.length - most[list], { kind: 'list', list, page: 1 });
  return html`${verdictHeading(verdict)}
<div class="columns"><div>
${problems.length > 0 && section('problems', 'What is wrong now', [problemList(problems.slice(0, most.problems), takenAtMs), rest(problems, 'problems')])}
${section(
  'appliances',
  'Appliances',
  findings.length === 0
    ? nothing('None is configured, or none falls to this shard.')
    : [applianceTable(appliances.slice(0, most.appliances), takenAtMs), rest(appliances, 'appliances')],
)}
${section(
  'changes',
  'Recent changes',
  transitions.length === 0
    ? nothing('No state has changed since the exporter was started.')
    : [changeList(transitions.slice(0, most.changes)), rest(transitions, 'changes')],
)}
</div><div>
${section(
  'certificates',
  'Certificates',
  certificates.length === 0
    ? nothing('No certificate is known.')
    : [certificateTable(certificates.slice(0, most.certificates), takenAtMs), rest(certificates, 'certificates')],
)}
${findings.length > 0 && section('activations', 'Activation', [activationTable(activations.slice(0, most.activations), takenAtMs), rest(activations, 'activations')])}
${section('exporter', 'The exporter itself', exporterPanel(facts, survey))}
${section('links', 'Elsewhere', linkPanel(facts))}
</div></div>`;
}

/** One list in full. */
export function listContent(
  { list, page }: View & { readonly kind: 'list' },
  { findings, transitions, takenAtMs }: Survey,
  problems: readonly Problem[],
): Markup {
  const inSheets = <Item>(
    all: readonly Item[],
    heading: string,
    what: string,
    content: (items: readonly Item[]) => Markup,
  ): Markup => {
    const part = sheet(all, page, rowsOfSheet);
    const pages = turner(part, what, (other) => ({ kind: 'list', list, page: other }));
    return html`<p class="back"><a href="./">All appliances</a></p>
${whole(list, heading, [part.count === 0 ? nothing('There is none.') : content(part.items), pages])}`;
  };
  switch (list) {
    case 'problems':
      return inSheets(problems, 'What is wrong now', 'problem', (items) => problemList(items, takenAtMs));
    case 'appliances':
      return inSheets(sortedFindings(findings), 'Appliances', 'appliance', (items) => applianceTable(items, takenAtMs));
    case 'certificates':
      return inSheets(sortedCertificates(findings), 'Certificates', 'certificate', (items) =>
        certificateTable(items, takenAtMs),
      );
    case 'activations':
      return inSheets(sortedActivations(findings), 'Activation', 'appliance', (items) =>
        activationTable(items, takenAtMs),
      );
    case 'changes':
      return inSheets(transitions, 'Recent changes', 'change', changeList);
  }
}

/** The worst first, then as they are configured. */
function sortedFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted(
    (one, other) => badness(one.level) - badness(other.level) || other.problems.length - one.problems.length,
  );
}
