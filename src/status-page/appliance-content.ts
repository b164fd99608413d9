import type { ApplianceStatus, InterfaceStatus } from '../poller/status.ts';
import { activationTable, certificateTable, sortedCertificates } from './certificate-table.ts';
import { applianceState, farmsUp, releaseOf, webInterface } from './appliance-table.ts';
import { backTo, changeList, emptyNote, paginate, pagination, panel, problemList, singlePanel } from './section.ts';
import { farmList, sortedFarms } from './farm-list.ts';
import { html, type Markup } from './html.ts';
import type { Problem } from './problem.ts';
import { allReadingChips } from './reading-chips.ts';
import { type Severity, severityOf, stateMark, wordOf } from './severity.ts';
import type { ApplianceHealth, HealthSummary } from './health-summary.ts';
import { overallStatusHeading, overallStatusOf } from './overall-status.ts';

const farmsOfSheet = 100;
const maxBackends = 24;
const mostCertificates = 100;
const mostChanges = 30;

/** Renders one appliance, with all of its farms and their backends. */
export function applianceContent(
  health: ApplianceHealth,
  page: number,
  summary: HealthSummary,
  problems: readonly Problem[],
): Markup {
  const { status } = health;
  const { name, farms } = status;
  const nowMs = summary.takenAtMs;
  const own = problems.filter(({ appliance }) => appliance === name);
  const certificates = sortedCertificates([health]);
  const transitions = summary.transitions.filter(({ appliance }) => appliance === name).slice(0, mostChanges);
  return html`${backTo()}
<p class="name"><bdi>${name}</bdi></p>
${overallStatusHeading(overallStatusOf([health], own))}
<div class="columns"><div>
${own.length > 0 && panel('problems', 'What is wrong now', problemList(own.slice(0, farmsOfSheet), nowMs, name))}
${panel('farms', 'Farms', farmsOf(health, page, nowMs))}
</div><div>
${panel('appliance', 'The appliance', facts(health))}
${panel('readings', 'Readings', allReadingChips(status, nowMs))}
${panel('certificates', 'Certificates', status.certificates === undefined ? notRead : certificates.length === 0 ? emptyNote('There is none.') : certificateTable(certificates.slice(0, mostCertificates), nowMs))}
${panel('activations', 'Activation', activationTable([health], nowMs))}
${panel('interfaces', 'Interfaces', interfaceChips(status))}
${panel('changes', 'Recent changes', transitions.length === 0 ? emptyNote('No state has changed since the exporter was started.') : changeList(transitions))}
</div></div>`;

  function farmsOf({ status }: ApplianceHealth, from: number, atMs: number): Markup | (Markup | false)[] {
    if (farms === undefined) return notRead;
    if (farms.length === 0) return emptyNote('It has no farms.');
    const part = paginate(sortedFarms(name, farms, atMs), from, farmsOfSheet);
    return [
      farmList(part.items, atMs, maxBackends),
      pagination(part, 'farm', (other) => ({ kind: 'appliance', appliance: status.name, page: other })),
    ];
  }
}

const notRead = emptyNote('They were not read, or so long ago that they are not shown.');

function interfaceChips({ interfaces }: ApplianceStatus): Markup {
  if (interfaces === undefined) return notRead;
  if (interfaces.length === 0) return emptyNote('There is none.');
  // One that was down from the first look on may be down by choice.
  const levelOfInterface = ({ state, sinceMs }: InterfaceStatus): Severity =>
    state === 'down' && sinceMs === undefined ? 'paused' : severityOf(state);
  return html`<ul class="chips">${interfaces.map(
    (each) =>
      html`<li><span class="chip"><b><bdi>${each.name}</bdi></b> ${stateMark(levelOfInterface(each), wordOf(each.state))}</span></li>`,
  )}</ul>`;
}

/** Renders one farm with all of its backends. */
export function farmContent(health: ApplianceHealth, farmName: string, nowMs: number): Markup {
  const { name, farms } = health.status;
  const chosen = sortedFarms(name, farms?.filter((each) => each.name === farmName) ?? [], nowMs);
  const absent = farms
    ? 'The appliance has no farm of that name now.'
    : 'The farms of the appliance were not read, or so long ago that they are not shown.';
  return html`${backTo(name)}
${singlePanel('farms', html`Farm <bdi>${farmName}</bdi>`, chosen.length === 0 ? emptyNote(absent) : farmList(chosen, nowMs, Number.POSITIVE_INFINITY))}`;
}

function facts({ status }: ApplianceHealth): Markup {
  const { hostname, labels, breaker, series } = status;
  return html`<dl class="facts-list">
<div><dt>State</dt><dd>${applianceState(status)}</dd></div>
<div><dt>Product</dt><dd>${releaseOf(status)}</dd></div>
<div><dt>Web interface</dt><dd>${webInterface(status)}</dd></div>
<div><dt>Host name</dt><dd><bdi>${hostname ?? 'unknown'}</bdi></dd></div>
<div><dt>Farms up</dt><dd>${farmsUp(status)}</dd></div>
<div><dt>Calls to it</dt><dd>${breaker === 'closed' ? 'let through' : stateMark('warning', breaker === 'open' ? 'held back after failures' : 'one is tried')}</dd></div>
<div><dt>Series of readings</dt><dd>${series.toLocaleString('en')}</dd></div>
${Object.entries(labels).map(([label, value]) => html`<div><dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd></div>`)}
</dl>`;
}
