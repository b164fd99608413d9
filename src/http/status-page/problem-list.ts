import { html, type Markup } from './html.ts';
import { linkTo, runbookLink } from './links.ts';
import type { Problem } from './problem.ts';
import { sign } from './sign.ts';
import { age, clockTime } from './times.ts';

export function problemList(problems: readonly Problem[], nowMs: number): Markup {
  return html`<ol class="problems">${problems.map((problem) => item(problem, nowMs))}</ol>`;
}

function item({ level, appliance, title, meaning, sinceMs, alert }: Problem, nowMs: number): Markup {
  const since =
    sinceMs === 'unseen'
      ? html`<span>since before it was watched</span>`
      : sinceMs !== undefined && html`<span>since ${clockTime(sinceMs)} (${age(sinceMs, nowMs)})</span>`;
  return html`<li class="problem ${level}" data-key="${`${appliance ?? ''} ${title}`}">${sign(level)}
<div><h3><span class="quiet">${level}: </span><bdi>${title}</bdi></h3>
<p><bdi>${meaning}</bdi></p>
<p class="facts"><span>${appliance !== undefined && html`<a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a>`}
<a href="${runbookLink(alert)}">Runbook<span class="quiet"> of ${alert}</span></a></span> ${since}</p></div></li>`;
}
