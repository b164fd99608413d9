const source = Symbol('markup');

/** Markup that is safe on a page; {@link html} makes it, and no data can look like it. */
export interface Markup {
  readonly [source]: string;
}

/** A value in a template: texts and numbers are escaped, `undefined` and `false` write nothing. */
export type Part = string | number | false | undefined | Markup | readonly Part[];

/**
 * Creates markup and escapes everything that is put into it; attributes with such a part must be in
 * quotes.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) text += textOf(part) + (strings[index + 1] ?? '');
  return { [source]: text };
}

/** Creates markup of parts with a separator between them. */
export function joined(parts: readonly Part[], separator: string): Markup {
  return html`${parts.map((part, index) => [index > 0 && separator, part])}`;
}

/** Returns files of ours as markup; never use it for text from elsewhere. */
export function trusted(text: string): Markup {
  return { [source]: text };
}

export function markupText(markup: Markup): string {
  return markup[source];
}

function textOf(part: Part): string {
  if (typeof part === 'string') return escape(part);
  if (typeof part === 'number') return String(part);
  if (part === undefined || part === false) return '';
  return source in part ? part[source] : part.map(textOf).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text, and replaces control and bidirectional characters by a visible one. */
function escape(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
