import { readFileSync } from 'node:fs';
import GithubSlugger from 'github-slugger';
import { Marked } from 'marked';

/**
 * docs/operations.md as the exporter serves it under /runbooks, with the anchors that it has on GitHub: whoever is called
 * at night needs no other site than the one that shows what is wrong.
 */
export function runbooks(): string {
  const source = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
  const slugger = new GithubSlugger();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugger.slug(plain(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Files of the repository are not served.
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        return href.startsWith('#') ? `<a href="${href}">${text}</a>` : text;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      // Comments for the tests of the documentation.
      html: () => '',
    },
  });
  // Wide ones are scrolled, with the keyboard as well.
  return marked.parse(source, { async: false }).replaceAll('<table>', '<table tabindex="0">');
}

/** A heading as a reader sees it. */
function plain(markdown: string): string {
  return markdown.replaceAll(/[`*_]/g, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
