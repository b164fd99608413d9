import { html, type Markup } from './html.ts';
import { linkTo } from './links.ts';
import { severityOf, severityRank, stateMark, wordOf } from './severity.ts';
import type { ApplianceHealth } from './health-summary.ts';
import { isoTime, span } from './times.ts';

/** Sorts by activation: not activated first, then by end. */
export function sortedActivations(appliances: readonly ApplianceHealth[]): readonly ApplianceHealth[] {
  return appliances.toSorted(
    (one, other) =>
      severityRank(severityOf(statusOf(one))) - severityRank(severityOf(statusOf(other))) || endOf(one) - endOf(other),
  );
}

export function activationTable(appliances: readonly ApplianceHealth[], nowMs: number): Markup {
  return html`<table class="activations"><thead><tr><th scope="col">Appliance</th><th scope="col">Activation</th><th scope="col">Ends</th></tr></thead>
<tbody>${appliances.map((health) => row(health, nowMs))}</tbody></table>`;
}

function statusOf({ status: { activation, deactivated } }: ApplianceHealth): string {
  return deactivated ? 'deactivated' : (activation?.status ?? 'unknown');
}

function endOf({ status }: ApplianceHealth): number {
  return status.activation?.notAfterSeconds ?? Number.POSITIVE_INFINITY;
}

function row(health: ApplianceHealth, nowMs: number): Markup {
  const { name, activation, edition } = health.status;
  const state = statusOf(health);
  return html`<tr data-key="${name}"><th scope="row"><a href="${linkTo({ kind: 'appliance', appliance: name, page: 1 })}"><bdi>${name}</bdi></a></th>
<td data-label="Activation">${state === 'not_applicable' ? html`<span class="faint">not needed (${edition || 'this edition'})</span>` : stateMark(severityOf(state), wordOf(state))}${activation?.kind !== undefined && html` <small>${activation.kind}</small>`}</td>
<td data-label="Ends">${end(activation?.notAfterSeconds, state, nowMs)}</td></tr>`;
}

function end(seconds: number | undefined, state: string, nowMs: number): Markup {
  if (seconds === undefined)
    return html`<span class="faint">${state === 'not_applicable' ? 'never' : 'not known'}</span>`;
  const leftMs = seconds * 1_000 - nowMs;
  return html`${leftMs > 0 ? `in ${span(leftMs)}` : `${span(-leftMs)} ago`} <small>${isoTime(seconds * 1_000)?.slice(0, 10)}</small>`;
}
