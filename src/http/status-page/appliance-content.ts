import type { ApplianceStatus, InterfaceStatus } from '../../monitor/status.ts';
import { activationTable } from './activation-table.ts';
import { applianceState, farmsUp, product } from './appliance-table.ts';
import { certificateTable, sortedCertificates } from './certificate-table.ts';
import { changeList } from './change-list.ts';
import { farmList, sortedFarms } from './farm-list.ts';
import { html, type Markup } from './html.ts';
import type { Problem } from './problem.ts';
import { problemList } from './problem-list.ts';
import { allReadingChips } from './reading-chips.ts';
import { nothing, section, sheet, turner, whole } from './section.ts';
import { type Level, levelOf, stateMark, wordOf } from './sign.ts';
import type { Finding, Survey } from './survey.ts';
import { verdictHeading, verdictOn } from './verdict.ts';

const farmsOfSheet = 100;
const mostBackends = 24;
const mostCertificates = 100;
const mostChanges = 30;

/** One appliance, with all of its farms and their backends. */
export function applianceContent(finding: Finding, page: number, survey: Survey, problems: readonly Problem[]): Markup {
  const { status } = finding;
  const { name, farms } = status;
  const nowMs = survey.takenAtMs;
  const own = problems.filter(({ appliance }) => appliance === name);
  const certificates = sortedCertificates([finding]);
  const transitions = survey.transitions.filter(({ appliance }) => appliance === name).slice(0, mostChanges);
  return html`<p class="back"><a href="./">All appliances</a></p>
<p class="name"><bdi>${name}</bdi></p>
${verdictHeading(verdictOn([finding], own))}
<div class="columns"><div>
${own.length > 0 && section('problems', 'What is wrong now', problemList(own.slice(0, farmsOfSheet), nowMs, name))}
${section('farms', 'Farms', farmsOf(finding, page, nowMs))}
</div><div>
${section('appliance', 'The appliance', facts(finding))}
${section('readings', 'Readings', allReadingChips(status, nowMs))}
${section('certificates', 'Certificates', status.certificates === undefined ? notRead : certificates.length === 0 ? nothing('There is none.') : certificateTable(certificates.slice(0, mostCertificates), nowMs))}
${section('activations', 'Activation', activationTable([finding], nowMs))}
${section('interfaces', 'Interfaces', interfaceChips(status))}
${section('changes', 'Recent changes', transitions.length === 0 ? nothing('No state has changed since the exporter was started.') : changeList(transitions))}
</div></div>`;

  function farmsOf({ status }: Finding, from: number, atMs: number): Markup | (Markup | false)[] {
    if (farms === undefined) return notRead;
    if (farms.length === 0) return nothing('It has no farms.');
    const part = sheet(sortedFarms(name, farms), from, farmsOfSheet);
    return [
      farmList(part.items, atMs, mostBackends),
      turner(part, 'farm', (other) => ({ kind: 'appliance', appliance: status.name, page: other })),
    ];
  }
}

const notRead = nothing('They were not read, or so long ago that they are not shown.');

function interfaceChips({ interfaces }: ApplianceStatus): Markup {
  if (interfaces === undefined) return notRead;
  if (interfaces.length === 0) return nothing('There is none.');
  // One that was down from the first look on may be down by choice.
  const levelOfInterface = ({ state, sinceMs }: InterfaceStatus): Level =>
    state === 'down' && sinceMs === undefined ? 'paused' : levelOf(state);
  return html`<ul class="chips">${interfaces.map(
    (each) =>
      html`<li><span class="chip"><b><bdi>${each.name}</bdi></b> ${stateMark(levelOfInterface(each), wordOf(each.state))}</span></li>`,
  )}</ul>`;
}

/** One farm with all of its backends. */
export function farmContent(finding: Finding, farmName: string, nowMs: number): Markup {
  const { name, farms } = finding.status;
  const chosen = sortedFarms(name, farms?.filter((each) => each.name === farmName) ?? []);
  const absent = farms
    ? 'The appliance has no farm of that name now.'
    : 'The farms of the appliance were not read, or so long ago that they are not shown.';
  return html`<p class="back"><a href="./">All appliances</a> · <a href="./?${new URLSearchParams({ appliance: name }).toString()}"><bdi>${name}</bdi></a></p>
${whole('farms', html`Farm <bdi>${farmName}</bdi>`, chosen.length === 0 ? nothing(absent) : farmList(chosen, nowMs, Number.POSITIVE_INFINITY))}`;
}

function facts({ status }: Finding): Markup {
  const { hostname, labels, breaker, series } = status;
  return html`<dl class="facts-list">
<div><dt>State</dt><dd>${applianceState(status)}</dd></div>
<div><dt>Version</dt><dd>${product(status)}</dd></div>
<div><dt>Host name</dt><dd><bdi>${hostname ?? 'unknown'}</bdi></dd></div>
<div><dt>Farms up</dt><dd>${farmsUp(status)}</dd></div>
<div><dt>Calls to it</dt><dd>${breaker === 'closed' ? 'let through' : stateMark('warning', breaker === 'open' ? 'held back after failures' : 'one is tried')}</dd></div>
<div><dt>Series of readings</dt><dd>${series.toLocaleString('en')}</dd></div>
${Object.entries(labels).map(([label, value]) => html`<div><dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd></div>`)}
</dl>`;
}
