import { plural } from '../../lib/text.ts';
import { levelIcon } from '../marks.ts';
import { html, joinMarkup, type Markup, type Renderable } from '../html.ts';
import { linkTo, runbookLink, type View } from './view.ts';
import type { Problem } from '../../state/problem.ts';
import { age, clockTime } from '../times.ts';

export function panel(id: string, heading: Renderable, content: Renderable): Markup {
  return html`<section id="${id}" class="panel" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>
${content}</section>`;
}

export function singlePanel(id: string, heading: Renderable, content: Renderable): Markup {
  return html`<h1 class="found" id="overall-status">${heading}</h1>
<section id="${id}" class="panel" aria-labelledby="overall-status">${content}</section>`;
}

export function table<Row>(
  kind: string,
  columns: readonly Renderable[],
  rows: readonly Row[],
  render: (row: Row) => Markup,
): Markup {
  return html`<table class="${kind}"><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(render)}</tbody></table>`;
}

export function definitionList(entries: readonly (readonly [name: Renderable, text: Renderable])[]): Markup {
  return html`<dl class="facts-list">${entries.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** Renders an address that may break into two lines only before its port. */
export function addressMarkup(host: string, port: string | undefined): Markup {
  if (!port) return html`<bdi>${host}</bdi>`;
  if (!host.includes(':')) return html`<bdi class="whole">${host}:${port}</bdi>`;
  return html`<bdi>${host}<span class="whole">:${port}</span></bdi>`;
}

export function applianceLink(appliance: string): Markup {
  return html`<a href="${linkTo({ kind: 'appliance', appliance })}"><bdi>${appliance}</bdi></a>`;
}

/** Renders the links back to the fleet, and to the appliance if it is given. */
export function backTo(appliance?: string): Markup {
  const toAppliance = appliance !== undefined && html` · ${applianceLink(appliance)}`;
  return html`<p class="back"><a href="./">All appliances</a>${toAppliance}</p>`;
}

export function emptyNote(sentence: string): Markup {
  return html`<p class="faint">${sentence}</p>`;
}

/** Renders a link to the remaining rows; false if there are none. */
export function moreLink(rest: number, view: View): Markup | false {
  return rest > 0 && html`<p class="more"><a href="${linkTo(view)}">and ${rest.toLocaleString('en')} more</a></p>`;
}

/** A list that is divided into pages. */
interface LongList {
  /** A page beyond the last one becomes the last one. */
  readonly view: Extract<View, { readonly page?: number }>;
  readonly count: number;
  /** The name of one row, such as `farm`. */
  readonly noun: string;
  readonly render: (from: number, to: number) => Markup;
}

export const rowsOfPage = 100;

/** Renders the page of a list for a view, with links to the previous and the next one. */
export function listPage({ view, count, noun, render }: LongList): readonly Renderable[] {
  if (count === 0) return [emptyNote('There is none.')];
  const pages = Math.ceil(count / rowsOfPage);
  const page = Math.min(view.page ?? 1, pages);
  const linkToPage = (other: number): string => linkTo({ ...view, page: other });
  const links = html`<nav class="pagination" aria-label="Pages">${page > 1 ? html`<a rel="prev" href="${linkToPage(page - 1)}">Page before</a>` : html`<span></span>`}
<span>Page ${page} of ${pages} · ${plural(count, noun)}</span>
${page < pages ? html`<a rel="next" href="${linkToPage(page + 1)}">Next page</a>` : html`<span></span>`}</nav>`;
  return [render((page - 1) * rowsOfPage, page * rowsOfPage), pages > 1 && links];
}

/** Renders problems. On the page of the appliance `onPageOf`, they have no link to it. */
export function problemList(problems: readonly Problem[], nowMs: number, onPageOf?: string): Markup {
  return html`<ol class="problems">${problems.map((problem) => problemItem(problem, nowMs, onPageOf))}</ol>`;
}

function problemItem(
  { level, appliance, title, meaning, sinceMs, alert, labels = {} }: Problem,
  nowMs: number,
  onPageOf?: string,
): Markup {
  const link = problemLink(appliance, labels, onPageOf);
  const heading = link === undefined ? html`<bdi>${title}</bdi>` : html`<a href="${link}"><bdi>${title}</bdi></a>`;
  const since =
    sinceMs === 'unseen'
      ? html`<span>since before it was watched</span>`
      : sinceMs !== undefined && html`<span>since ${clockTime(sinceMs)} (${age(sinceMs, nowMs)})</span>`;
  return html`<li class="problem ${level}" data-key="${`${appliance ?? ''} ${title}`}">${levelIcon(level)}
<div><h3><span class="quiet">${level}: </span>${heading}</h3>
<p><bdi>${meaning}</bdi></p>
<p class="facts"><span>${appliance !== undefined && appliance !== onPageOf && applianceLink(appliance)}
<a href="${runbookLink(alert, { ...(appliance !== undefined && { appliance }), ...labels })}">Runbook<span class="quiet"> of ${alert}</span></a></span> ${since}</p></div></li>`;
}

/** Returns the URL of the object of a problem; undefined on its own page. */
function problemLink(
  appliance: string | undefined,
  { farm, file }: NonNullable<Problem['labels']>,
  onPageOf: string | undefined,
): string | undefined {
  if (appliance === undefined) return './#exporter';
  if (farm !== undefined) return linkTo({ kind: 'farm', appliance, farm });
  if (file !== undefined) return linkTo({ kind: 'certificate', appliance, certificate: file });
  return appliance === onPageOf ? undefined : linkTo({ kind: 'appliance', appliance });
}

/** Renders links to farms of an appliance: the first four, and the number of the rest. */
export function farmLinks(appliance: string, farms: readonly string[]): Markup {
  return linkList(farms, (farm) => ({ kind: 'farm', appliance, farm }));
}

/** Renders links to views by their names: the first four, and the number of the rest. */
export function linkList(names: readonly string[], viewOf: (name: string) => View): Markup {
  const links = names.slice(0, maxLinks).map((name) => html`<a href="${linkTo(viewOf(name))}"><bdi>${name}</bdi></a>`);
  return html`${joinMarkup(links, ', ')}${names.length > maxLinks && ` and ${(names.length - maxLinks).toLocaleString('en')} more`}`;
}

const maxLinks = 4;
