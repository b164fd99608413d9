import { html, type Markup } from './html.ts';
import { linkTo, runbookLink } from './links.ts';
import type { Problem } from './problem.ts';
import { severityIcon } from './severity.ts';
import { age, clockTime } from './times.ts';

/** Problems without a link to the appliance `onPageOf`, whose page it is. */
export function problemList(problems: readonly Problem[], nowMs: number, onPageOf?: string): Markup {
  return html`<ol class="problems">${problems.map((problem) => item(problem, nowMs, onPageOf))}</ol>`;
}

function item(
  { level, appliance, title, meaning, sinceMs, alert, labels = {} }: Problem,
  nowMs: number,
  onPageOf?: string,
): Markup {
  const { farm } = labels;
  const heading =
    appliance !== undefined && farm !== undefined
      ? html`<a href="${linkTo({ kind: 'farm', appliance, farm })}"><bdi>${title}</bdi></a>`
      : html`<bdi>${title}</bdi>`;
  const since =
    sinceMs === 'unseen'
      ? html`<span>since before it was watched</span>`
      : sinceMs !== undefined && html`<span>since ${clockTime(sinceMs)} (${age(sinceMs, nowMs)})</span>`;
  return html`<li class="problem ${level}" data-key="${`${appliance ?? ''} ${title}`}">${severityIcon(level)}
<div><h3><span class="quiet">${level}: </span>${heading}</h3>
<p><bdi>${meaning}</bdi></p>
<p class="facts"><span>${appliance !== undefined && appliance !== onPageOf && html`<a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a>`}
<a href="${runbookLink(alert, { ...(appliance !== undefined && { appliance }), ...labels })}">Runbook<span class="quiet"> of ${alert}</span></a></span> ${since}</p></div></li>`;
}
