import GithubSlugger from 'github-slugger';
import { Marked } from 'marked';
import { runbookLabels } from './runbooks.ts';

/**
 * Renders docs/operations.md for /runbooks, with the anchors of GitHub and with gaps for the labels
 * of an alert. The person on call needs no other site than the one that shows the problem.
 */
export function renderRunbooks(operations: string): string {
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
      code({ text, lang }) {
        return `<pre tabindex="0"><code>${withGaps(escaped(text), lang)}</code></pre>\n`;
      },
      // Comments for the tests of the documentation.
      html: () => '',
    },
  });
  // Wide tables scroll, with the keyboard too.
  const text = marked.parse(operations, { async: false }).replaceAll('<table>', '<table tabindex="0">');
  return text
    .split(/(?=<h[23] )/)
    .map(withRemark)
    .join('');
}

const labels = runbookLabels.join('|');
/** Matches names of the demonstration that stand for a label; `file=` also names new files. */
const example = /\b(?:(appliance|farm|service|backend)=([\w.:-]+)|(file)=(soon_example_com\.pem))/g;

/**
 * Marks the gaps for the labels of an alert; a query gets `$farm` instead of a farm of the
 * demonstration.
 */
function withGaps(code: string, language: string | undefined): string {
  if (language === 'promql')
    return code.replaceAll(
      new RegExp(`\\b(${labels})="[^"]+"`, 'g'),
      (_, label: string) => `${label}="<var data-query="${label}">$${label}</var>"`,
    );
  if (language !== 'sh') return code;
  return code
    .replaceAll(new RegExp(String.raw`\$(${labels})\b`, 'g'), '<var data-shell="$1">$$$1</var>')
    .replaceAll(example, (_, label: string, value: string, file: string, name: string) =>
      label ? `${label}=${gap(label, value)}` : `${file}=${gap(file, name)}`,
    );
}

function gap(label: string, shown: string): string {
  return `<var data-shell="${label}">${shown}</var>`;
}

/** Marks the place below a heading for the remark about the labels that the section uses. */
function withRemark(section: string): string {
  const used = runbookLabels.filter((label) => section.includes(`="${label}">$${label}</var>`));
  return used.length === 0 ? section : section.replace(/<\/h[23]>\n/, `$&<!--labels ${used.join(' ')}-->\n`);
}

/** Returns a heading as a reader sees it. */
function plain(markdown: string): string {
  return markdown.replaceAll(/[`*_]/g, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
