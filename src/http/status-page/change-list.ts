import type { RecentTransition } from '../../monitor/status.ts';
import { html, type Markup } from './html.ts';
import { linkTo } from './links.ts';
import { severityOf, stateMark, wordOf } from './severity.ts';
import { clockTime } from './times.ts';

/** Renders state changes, the newest first. */
export function changeList(transitions: readonly RecentTransition[]): Markup {
  return html`<ol class="changes">${transitions.map(item)}</ol>`;
}

function item({ atMs, appliance, object, labels, from, to }: RecentTransition): Markup {
  const [own, ...within] = Object.values(labels)
    .filter((value) => value !== '')
    .toReversed();
  return html`<li data-key="${`${atMs} ${appliance} ${object} ${Object.values(labels).join(' ')}`}">${clockTime(atMs)}
<span class="change"><span class="what">${object} <b><bdi>${own}</bdi></b>${within.length > 0 && html` of <bdi>${within.join(', ')}</bdi>`}</span>
<span class="to"><span class="faint">${wordOf(from)} →</span> ${stateMark(severityOf(to), wordOf(to))}</span>
<a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a></span></li>`;
}
