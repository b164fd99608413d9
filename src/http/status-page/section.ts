import { html, type Markup, type Part } from './html.ts';
import { linkTo } from './links.ts';
import { countOf } from './listed.ts';
import type { View } from './view.ts';

/** Renders a part of the page with a heading. */
export function panel(id: string, heading: Part, content: Part): Markup {
  return html`<section id="${id}" class="panel" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>
${content}</section>`;
}

/** Renders a page with a single panel. */
export function singlePanel(id: string, heading: Part, content: Part): Markup {
  return html`<h1 class="found" id="overall-status">${heading}</h1>
<section id="${id}" class="panel" aria-labelledby="overall-status">${content}</section>`;
}

export function emptyNote(sentence: string): Markup {
  return html`<p class="faint">${sentence}</p>`;
}

/** Renders a link to the remaining rows; false if there are none. */
export function moreLink(rest: number, view: View): Markup | false {
  return rest > 0 && html`<p class="more"><a href="${linkTo(view)}">and ${rest.toLocaleString('en')} more</a></p>`;
}

/** One page of a long list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pages: number;
  readonly count: number;
}

/** Returns a page of a list; the last one if `page` is too high. */
export function paginate<Item>(all: readonly Item[], page: number, ofEach: number): ListPage<Item> {
  const pages = Math.max(1, Math.ceil(all.length / ofEach));
  const actual = Math.min(page, pages);
  return { items: all.slice((actual - 1) * ofEach, actual * ofEach), page: actual, pages, count: all.length };
}

/** Renders links to the previous and the next page; `what` is a noun such as `farm`. */
export function pagination(
  { page, pages, count }: ListPage<unknown>,
  what: string,
  to: (page: number) => View,
): Markup | false {
  if (pages === 1) return false;
  return html`<nav class="pagination" aria-label="Pages">${page > 1 ? html`<a rel="prev" href="${linkTo(to(page - 1))}">Page before</a>` : html`<span></span>`}
<span>Page ${page} of ${pages} · ${countOf(count, what)}</span>
${page < pages ? html`<a rel="next" href="${linkTo(to(page + 1))}">Next page</a>` : html`<span></span>`}</nav>`;
}
