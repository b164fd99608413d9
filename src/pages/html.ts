const source = Symbol('markup');

/** Markup that is safe on a page. Only {@link html} creates it, so that no data can pass for it. */
export interface Markup {
  readonly [source]: string;
}

/** A value in a template. Texts are escaped; `undefined` and `false` render nothing. */
export type Renderable = string | number | false | undefined | Markup | readonly Renderable[];

/** Creates markup and escapes the values in it; an attribute with a value must have quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Renderable[]): Markup {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += render(value) + (strings[index + 1] ?? '');
  return { [source]: text };
}

/** Renders values with a separator between them. */
export function joinMarkup(values: readonly Renderable[], separator: string): Markup {
  return html`${values.map((value, index) => [index > 0 && separator, value])}`;
}

/** Returns a text of our own files as markup; never use it for other texts. */
export function trustedMarkup(text: string): Markup {
  return { [source]: text };
}

export function markupText(markup: Markup): string {
  return markup[source];
}

function render(value: Renderable): string {
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  if (value === undefined || value === false) return '';
  return source in value ? value[source] : value.map(render).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text, and makes control and bidirectional characters visible. */
function escape(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
