import { stateLabel } from '../../lib/states.ts';
import { compareNames } from '../../lib/text.ts';
import { isoTime } from '../../lib/time.ts';
import { type Level, levelOfState, levelRank, worstLevel } from '../../state/level.ts';
import { isAnswering } from '../../state/freshness.ts';
import { stateMarkFor, stateMark } from '../marks.ts';
import type { BackendName, BackendStatus, FarmStatus, LastMinute, ProbeStatus } from '../../state/status.ts';
import { html, joinMarkup, type Markup, type Renderable } from '../html.ts';
import type { ApplianceHealth, HealthSummary } from '../../state/health.ts';
import { addressMarkup, linkList } from './section.ts';
import { linkTo } from './view.ts';
import { age } from '../times.ts';

interface FarmOnPage {
  readonly appliance: string;
  readonly farm: FarmStatus;
  readonly level: Level;
  readonly mark: typeof stateMark;
  /** False while its appliance does not answer. */
  readonly isCurrent: boolean;
}

type PageSummary = Pick<HealthSummary, 'takenAtMs' | 'lastMinuteOf'>;

/** Sorts farms of an appliance with problems first, then by name. */
export function sortedFarms(
  { status, problems }: ApplianceHealth,
  farms: readonly FarmStatus[],
): readonly FarmOnPage[] {
  const byFarm = Map.groupBy(problems, ({ labels }) => labels?.farm);
  return farms
    .map((farm) => {
      const farmProblems = byFarm.get(farm.name) ?? [];
      const level = worstLevel([levelOfState('farm', farm.state), ...farmProblems.map((problem) => problem.level)]);
      return { appliance: status.name, farm, level, mark: stateMarkFor(status), isCurrent: isAnswering(status) };
    })
    .toSorted(
      (one, other) => levelRank(one.level) - levelRank(other.level) || compareNames(one.farm.name, other.farm.name),
    );
}

/** Renders farms with at most `maxBackends` of their backends; those with problems are open. */
export function farmDetails(farms: readonly FarmOnPage[], summary: PageSummary, maxBackends: number): Markup {
  return html`<ul class="farms">${farms.map((each) => farmItem(each, summary, maxBackends))}</ul>`;
}

function farmItem(shown: FarmOnPage, summary: PageSummary, maxBackends: number): Markup {
  const { appliance, farm, level, mark, isCurrent } = shown;
  const { name, profile, state, vip, vport, backends, established } = farm;
  const lastMinute = summary.lastMinuteOf(appliance, name);
  const isOpen = level === 'critical' || level === 'warning';
  return html`<li data-key="${name}"><details class="farm" data-open="${isOpen ? 'yes' : 'no'}"${isOpen && html` open`}>
<summary><span class="farm-state">${mark(levelOfState('farm', state), stateLabel(state))}</span>
<span class="farm-name"><b><bdi>${name}</bdi></b> <small>${profile || 'unknown profile'}</small></span>
<span class="address">${vip && addressMarkup(vip, vport)}</span>
<span class="connections">${established !== undefined && html`<b>${established.toLocaleString('en')}</b> <small>${established === 1 ? 'connection' : 'connections'}</small>`}</span>
<span class="backends-up">${backendsUp(farm, isCurrent)}</span>${lastMinute && requestsText(lastMinute)}</summary>
${farmBody(shown, summary.takenAtMs, maxBackends)}
${backends !== undefined && backends.length > maxBackends && html`<p class="more"><a href="${linkTo({ kind: 'farm', appliance, farm: name })}">and ${(backends.length - maxBackends).toLocaleString('en')} more backends</a></p>`}</details></li>`;
}

function requestsText({ perSecond, failed, p95Seconds }: LastMinute): Markup {
  const rate = perSecond.toFixed(perSecond < 10 ? 1 : 0);
  const errors = failed > 0 ? stateMark('warning', `${failed.toLocaleString('en')} failed`) : 'none failed';
  const bound =
    p95Seconds === Number.POSITIVE_INFINITY ? 'beyond all bounds' : `within ${(p95Seconds ?? 0) * 1_000} ms`;
  return html`<span class="requests">${rate} <small>requests a second in the last minute,</small> ${errors}${p95Seconds !== undefined && html`<small>, 95 of 100 ${bound}</small>`}</span>`;
}

function backendsUp({ backends, profile, configuredBackends }: FarmStatus, isCurrent: boolean): Renderable {
  if (backends === undefined) {
    const configured = configuredBackends && `${configuredBackends.length} configured`;
    return html`<span class="faint">${profile === 'datalink' ? 'not watchable' : (configured ?? 'unknown')}</span>`;
  }
  if (backends.length === 0) return html`<span class="faint">no backends</span>`;
  const up = backends.filter(({ state }) => state === 'up').length;
  const isShort = backends.some(({ state }) => state === 'down');
  return html`<span class="${isShort ? 'short' : isCurrent ? 'enough' : 'faint'}"><b>${up}</b> of ${backends.length} up</span>`;
}

function farmBody({ appliance, farm, mark }: FarmOnPage, nowMs: number, maxBackends: number): Markup {
  const { name, state, sinceMs, certificates = [], pending, hasHealthCheck, backends } = farm;
  const details = [
    sinceMs !== undefined && html`${stateLabel(state)} for ${age(sinceMs, nowMs)}`,
    pending !== undefined && pending > 0 && html`${pending.toLocaleString('en')} half-open connections`,
    hasHealthCheck === false &&
      html`${farm.profile === 'l4xnat' ? 'no health check, so its backends are always called up' : 'not all services have a health check'}`,
    certificates.length > 0 &&
      html`presents ${linkList(certificates, (certificate) => ({ kind: 'certificate', appliance, certificate }))}`,
    ...(farm.probe ? probeFacts(farm.probe) : []),
    // Not in the summary, which is clickable itself.
    Number.isFinite(maxBackends) &&
      html`<a href="${linkTo({ kind: 'farm', appliance, farm: name })}">only <bdi>${name}</bdi></a>`,
  ].filter((detail) => detail !== false);
  return html`${details.length > 0 && html`<p class="facts">${details.map((detail) => html`<span>${detail}</span>`)}</p>`}${
    backends !== undefined && backends.length > 0
      ? backendTable(sortedBackends(backends).slice(0, maxBackends), nowMs, mark)
      : noBackends(farm, maxBackends)
  }`;
}

/** Renders what clients of the farm meet. */
function probeFacts({ isReachable, connectSeconds = 0, failure, served }: ProbeStatus): readonly Markup[] {
  if (failure === 'not_allowed') return [html`not probed: its address is reserved, or outside the networks`];
  if (isReachable === undefined)
    return failure ? [stateMark('unknown', `not known whether it serves (${failure}): it may be for UDP`)] : [];
  if (!isReachable) return [stateMark('critical', `not reachable from here (${failure ?? ''})`)];
  return [html`reachable in ${Math.ceil(connectSeconds * 1_000)} ms`, ...served.map(servedFact)];
}

function servedFact({ serverName, failure, certificate, isInStore }: ProbeStatus['served'][number]): Markup {
  const name = html`<bdi>${serverName || 'TLS without a name'}</bdi>`;
  if (!certificate) return html`${name}: ${stateMark('warning', `no certificate (${failure ?? ''})`)}`;
  const { notAfterSeconds, coversName, intermediates } = certificate;
  const ending = intermediates.find((each) => (each.notAfterSeconds ?? 0) < (notAfterSeconds ?? 0));
  return html`${name}: serves a certificate until ${dayText(notAfterSeconds)}${isInStore === true && ', the one of the store'}${
    isInStore === false && html` ${stateMark('warning', 'not the one of the store')}`
  }${ending && html`, its issuer <bdi>${ending.commonName}</bdi> until ${dayText(ending.notAfterSeconds)}`}${coversName === false && html` ${stateMark('warning', 'does not cover the name')}`}${failure && html` ${stateMark('warning', `then the handshake fails (${failure})`)}`}`;
}

function dayText(seconds: number | undefined): string {
  return (seconds !== undefined && isoTime(seconds * 1_000)?.slice(0, 10)) || 'an unknown day';
}

function noBackends({ profile, state, backends, configuredBackends }: FarmStatus, maxBackends: number): Markup {
  if (profile === 'datalink')
    return html`<p class="faint">The API says nothing about the backends of datalink farms.</p>`;
  if (backends !== undefined) return html`<p class="faint">It has no backends.</p>`;
  const why =
    state === 'down'
      ? 'Its backends are not known while it is down.'
      : 'Its backends are not known: they were not read since its state changed, or so long ago that they are not shown.';
  return html`<p class="faint">${why}${configuredBackends && html` ${inConfiguration(configuredBackends, maxBackends)}`}</p>`;
}

/** Renders the configured backends of a farm, whose states are unknown. */
function inConfiguration(backends: readonly BackendName[], maxBackends: number): Markup {
  if (backends.length === 0) return html`None is configured.`;
  const rest = backends.length - maxBackends;
  const names = backends.slice(0, maxBackends).map(({ backend }) => html`<bdi>${backend}</bdi>`);
  return html`Configured: ${joinMarkup(names, ', ')}${rest > 0 && ` and ${rest.toLocaleString('en')} more`}.`;
}

function sortedBackends(backends: readonly BackendStatus[]): readonly BackendStatus[] {
  return backends.toSorted(
    (one, other) => levelRank(levelOfState('backend', one.state)) - levelRank(levelOfState('backend', other.state)),
  );
}

function backendTable(backends: readonly BackendStatus[], nowMs: number, mark: typeof stateMark): Markup {
  const hasServices = backends.some(({ service }) => service !== '');
  return html`<table class="backends"><thead><tr><th scope="col">Backend</th><th scope="col">State</th>${hasServices && html`<th scope="col">Service</th>`}<th scope="col" class="number">Connections</th></tr></thead>
<tbody>${backends.map(
    ({
      service,
      backend,
      state,
      sinceMs,
      established,
    }) => html`<tr data-key="${`${service} ${backend}`}"><th scope="row"><bdi>${backend}</bdi></th>
<td data-label="State">${mark(levelOfState('backend', state), stateLabel(state))}${sinceMs !== undefined && html` <small>for ${age(sinceMs, nowMs)}</small>`}</td>${hasServices && html`<td data-label="Service"><bdi>${service}</bdi></td>`}
<td data-label="Connections" class="number">${established?.toLocaleString('en') ?? html`<span class="faint">unknown</span>`}</td></tr>`,
  )}</tbody></table>`;
}
