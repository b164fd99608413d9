import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, markupText } from '../../../src/pages/html.ts';
import { hostileName } from '../../fuzz/hostile-names.ts';

describe('a template', () => {
  it('escapes every inserted value, in texts and in attributes', () => {
    const name = `<img src=x onerror="alert('1')">&`;

    expect(markupText(html`<a title="${name}">${name}</a>`)).toBe(
      '<a title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</a>',
    );
  });

  it.each(['\u0007', '\u009f', '\u202a', '\u202e', '\u2066', '\u2069'])(
    'marks a name that contains %j, which would hide or reverse a part of it',
    (character) => {
      expect(markupText(html`shop${character}live`)).toBe('shop\ufffdlive');
    },
  );

  it('keeps templates and lists of them, and writes nothing for missing values', () => {
    const items = ['a', '<b>'].map((each) => html`<li>${each}</li>`);

    expect(markupText(html`<ul>${items}${undefined}${false}${0}</ul>`)).toBe('<ul><li>a</li><li>&lt;b&gt;</li>0</ul>');
  });

  it('does not read data as a template', () => {
    const forged: unknown = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>","length":0}');

    expect(() => markupText(html`${forged as string}`)).toThrow(TypeError);
  });

  it('keeps a hostile name within its element or attribute', () => {
    fc.assert(
      fc.property(fc.oneof(hostileName, fc.string({ unit: fc.constantFrom(...`<>"'&/=!-a `) })), (name) => {
        const text = markupText(html`<i title="${name}">${name}</i>`);

        expect(text).toMatch(/^<i title="[^"<>]*">[^<>]*<\/i>$/);
        expect(text).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
