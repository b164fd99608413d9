import { html, type Markup, type Part } from './html.ts';
import { linkTo } from './links.ts';
import { counted } from './listed.ts';
import type { View } from './view.ts';

/** A part of the page with a heading of its own. */
export function section(id: string, heading: Part, content: Part): Markup {
  return html`<section id="${id}" class="panel" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>
${content}</section>`;
}

/** A page that is one thing. */
export function whole(id: string, heading: Part, content: Part): Markup {
  return html`<h1 class="found" id="verdict">${heading}</h1>
<section id="${id}" class="panel" aria-labelledby="verdict">${content}</section>`;
}

export function nothing(sentence: string): Markup {
  return html`<p class="faint">${sentence}</p>`;
}

/** The link to what did not fit; nothing where all fits. */
export function more(rest: number, view: View): Markup | false {
  return rest > 0 && html`<p class="more"><a href="${linkTo(view)}">and ${rest.toLocaleString('en')} more</a></p>`;
}

/** One of several pages of something long. */
export interface Sheet<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pages: number;
  readonly count: number;
}

/** Past the last page there is the last page. */
export function sheet<Item>(all: readonly Item[], page: number, ofEach: number): Sheet<Item> {
  const pages = Math.max(1, Math.ceil(all.length / ofEach));
  const actual = Math.min(page, pages);
  return { items: all.slice((actual - 1) * ofEach, actual * ofEach), page: actual, pages, count: all.length };
}

/** Links to the pages before and after; `what` is counted, as in `farm`. */
export function turner(
  { page, pages, count }: Sheet<unknown>,
  what: string,
  to: (page: number) => View,
): Markup | false {
  if (pages === 1) return false;
  return html`<nav class="turner" aria-label="Pages">${page > 1 ? html`<a rel="prev" href="${linkTo(to(page - 1))}">Page before</a>` : html`<span></span>`}
<span>Page ${page} of ${pages} · ${counted(count, what)}</span>
${page < pages ? html`<a rel="next" href="${linkTo(to(page + 1))}">Next page</a>` : html`<span></span>`}</nav>`;
}
