import { stateLabel } from '../../lib/states.ts';
import { type Level, levelOfState } from '../../state/level.ts';
import { stateMarkFor, stateMark } from '../marks.ts';
import type { Problem } from '../../state/problem.ts';
import { adminCommand } from '../../lib/text.ts';
import type { ApplianceStatus, CertificateStatus, InterfaceStatus } from '../../state/status.ts';
import { activationTable, certificateTable, sortedCertificates } from './certificate-table.ts';
import { applianceState, farmsUp, releaseOf, webInterface } from './appliance-table.ts';
import { backTo, emptyNote, definitionList, listPage, panel, problemList, singlePanel } from './section.ts';
import { farmDetails, sortedFarms } from './farm-details.ts';
import { html, type Markup, type Renderable } from '../html.ts';
import { allReadingChips } from './reading-chips.ts';
import type { ApplianceHealth, HealthSummary } from '../../state/health.ts';
import { overallStatusHeading, overallStatusOf } from './overall-status.ts';
import { isAnswering, lastReadMs } from '../../state/freshness.ts';
import { clockTime, utcTime } from '../times.ts';
import type { View } from './view.ts';

const maxBackends = 24;
const maxCertificates = 100;
const maxProblems = 100;
const maxDoubts = 20;

type ApplianceView = View & { readonly kind: 'appliance' };

/** Renders one appliance, with other panels of it, and all of its farms and their backends. */
export function appliancePage(
  health: ApplianceHealth,
  view: ApplianceView,
  summary: HealthSummary,
  panels: Renderable,
): Markup {
  const { status, problems, doubts } = health;
  const { name } = status;
  const nowMs = summary.takenAtMs;
  const certificates = sortedCertificates([health]);
  return html`${backTo()}
<p class="name"><bdi>${name}</bdi></p>
${overallStatusHeading(overallStatusOf([health], problems))}
<div class="columns"><div>
${problems.length > 0 && panel('problems', 'What is wrong now', problemList(problems.slice(0, maxProblems), nowMs, name))}
${doubts.length > 0 && panel('doubts', 'What is not known', problemList(doubts.slice(0, maxDoubts), nowMs, name))}
${panel('farms', 'Farms', farmsOf(health, view, summary))}
</div><div>
${panels}
${panel('appliance', 'The appliance', applianceDetails(health))}
${panel('readings', 'Readings', allReadingChips(status, nowMs))}
${panel('certificates', 'Certificates', status.certificates === undefined ? notRead : certificates.length === 0 ? emptyNote('There is none.') : certificateTable(certificates.slice(0, maxCertificates), nowMs))}
${panel('activations', 'Activation', activationTable([health], nowMs))}
${panel('interfaces', 'Interfaces', interfaceChips(status))}
</div></div>`;
}

const notRead = emptyNote('They were not read, or so long ago that they are not shown.');

function farmsOf(health: ApplianceHealth, view: ApplianceView, summary: HealthSummary): Renderable {
  const { farms } = health.status;
  if (farms === undefined) return notRead;
  if (farms.length === 0) return emptyNote('It has no farms.');
  const render = (from: number, to: number): Markup =>
    farmDetails(sortedFarms(health, farms).slice(from, to), summary, maxBackends);
  return [lastReadNote(health.status), ...listPage({ view, count: farms.length, noun: 'farm', render })];
}

/** Says when the states were read, if the appliance does not answer. */
function lastReadNote(status: ApplianceStatus): Renderable {
  const lastMs = lastReadMs(status);
  if (isAnswering(status) || lastMs === undefined) return false;
  return html`<p class="note">Not known now. As last read, at ${clockTime(lastMs)}:</p>`;
}

function interfaceChips(status: ApplianceStatus): Markup {
  const { interfaces } = status;
  if (interfaces === undefined) return notRead;
  if (interfaces.length === 0) return emptyNote('There is none.');
  // An interface that never was up may be down by choice.
  const levelOfInterface = ({ state, sinceMs }: InterfaceStatus): Level =>
    state === 'down' && sinceMs === undefined ? 'paused' : levelOfState('interface', state);
  return html`<ul class="chips">${interfaces.map(
    (each) =>
      html`<li><span class="chip"><b><bdi>${each.name}</bdi></b> ${stateMarkFor(status)(levelOfInterface(each), stateLabel(each.state))}</span></li>`,
  )}</ul>`;
}

function applianceDetails(health: ApplianceHealth): Markup {
  const { status } = health;
  const { hostname, labels, breaker, series } = status;
  const paused = breaker === 'open' ? 'held back after failures' : 'one is tried';
  return definitionList([
    ['State', applianceState(status)],
    ['Product', releaseOf(status)],
    ['Web interface', webInterface(status)],
    ['Host name', html`<bdi>${hostname ?? 'unknown'}</bdi>`],
    ['Farms up', farmsUp(health)],
    ['Calls to it', breaker === 'closed' ? 'let through' : stateMark('warning', paused)],
    ['Series of readings', series.toLocaleString('en')],
    ...Object.entries(labels).map(([label, value]) => [html`<bdi>${label}</bdi>`, html`<bdi>${value}</bdi>`] as const),
  ]);
}

/** Writes a command as users of this installation type it; undefined while the gateway is off. */
export type CommandNamer = ((command: string) => string) | undefined;

/** Renders one farm with all of its backends, and what to do about what is wrong with it. */
export function farmPage(
  health: ApplianceHealth,
  farmName: string,
  summary: HealthSummary,
  withCommandName: CommandNamer,
): Markup {
  const { name, farms } = health.status;
  const farmProblems = [...health.problems, ...health.doubts].filter(({ labels }) => labels?.farm === farmName);
  const chosen = sortedFarms(health, farms?.filter((each) => each.name === farmName) ?? []);
  const absent = farms
    ? 'The appliance has no farm of that name now.'
    : 'The farms of the appliance were not read, or so long ago that they are not shown.';
  return html`${backTo(name)}
${singlePanel('farms', html`Farm <bdi>${farmName}</bdi>`, chosen.length === 0 ? emptyNote(absent) : farmDetails(chosen, summary, Number.POSITIVE_INFINITY))}
${farmProblems.length > 0 && panel('problems', 'What is wrong now', [problemList(farmProblems, summary.takenAtMs, name), repairNote(farmProblems, name, farmName, withCommandName)])}`;
}

/** Renders the first command of a farm's runbook, which says when not to run it. */
function repairNote(
  problems: readonly Problem[],
  appliance: string,
  farm: string,
  withCommandName: CommandNamer,
): Renderable {
  const repairable = problems.find(({ repair }) => repair !== undefined);
  if (!repairable) return false;
  const { repair, alert } = repairable;
  if (!withCommandName)
    return html`<p class="note">The admin gateway is off: ${repair} it in the web interface, LSLB &gt; Farms, after a look at the runbook.</p>`;
  const words =
    repair === 'start' ? ['actOnFarm', `farmname=${farm}`, 'action=start'] : ['restart-farm', `farm=${farm}`];
  const command = adminCommand(appliance, ...words, `--reason=${alert}`);
  return html`<p class="note">After a look at the runbook: <code>${withCommandName(command)}</code></p>`;
}

export function certificatePage({ status, problems }: ApplianceHealth, file: string, nowMs: number): Markup {
  const { name: appliance, certificates } = status;
  const certificate = certificates?.find((each) => each.file === file);
  const fileProblems = problems.filter(({ labels }) => labels?.file === file);
  const absent = certificates
    ? 'The appliance has no certificate in a file of that name now.'
    : 'The certificates of the appliance were not read, or so long ago that they are not shown.';
  return html`${backTo(appliance)}
${singlePanel('certificates', html`Certificate <bdi>${file}</bdi>`, certificate === undefined ? emptyNote(absent) : [certificateTable([{ appliance, certificate }], nowMs), certificateDetails(certificate)])}
${fileProblems.length > 0 && panel('problems', 'What is wrong now', problemList(fileProblems, nowMs, appliance))}`;
}

function certificateDetails(certificate: CertificateStatus): Markup {
  const { kind, commonName, issuer, state, notBeforeSeconds, notAfterSeconds } = certificate;
  return definitionList([
    ['Name', html`<bdi>${commonName || 'none'}</bdi>`],
    ['Issued by', html`<bdi>${issuer || 'none'}</bdi>`],
    ['Valid from', utcOf(notBeforeSeconds)],
    ['Valid until', utcOf(notAfterSeconds)],
    ['The appliance calls it', kind === 'csr' ? 'a request' : stateLabel(state)],
  ]);
}

function utcOf(seconds: number | undefined): string {
  return (seconds === undefined ? undefined : utcTime(seconds * 1_000)) ?? 'unknown';
}
