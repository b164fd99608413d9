import GithubSlugger from 'github-slugger';
import { Marked } from 'marked';
import { type RunbookAddresses, runbookLabels } from './runbooks.ts';

/** Renders docs/operations.md for /runbooks, with GitHub's anchors, and gaps for labels of alerts. */
export function renderRunbooks(operations: string): string {
  const slugger = new GithubSlugger();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugger.slug(withoutMarkdown(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Files of the repository are not served.
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        return href.startsWith('#') ? `<a href="${href}">${text}</a>` : text;
      },
      code({ text, lang }) {
        return `<pre tabindex="0" data-typed="${typedIn[lang ?? ''] ?? ''}"><code>${markGaps(escapeHtml(text), lang)}</code></pre>\n`;
      },
      codespan: ({ text }) => `<code>${markShellVariables(escapeHtml(text))}</code>`,
      // Other comments are for the tests of the documentation.
      html: ({ text }) => text.match(/<!-- \/?unfilled -->/g)?.join('') ?? '',
    },
  });
  // Wide tables scroll, with the keyboard too.
  const text = marked.parse(operations, { async: false }).replaceAll('<table>', '<table tabindex="0">');
  return text
    .split(/(?=<h[23] )/)
    .map(markRemark)
    .join('')
    .replace('</h1>\n', `$&<!--gateway-->${alertList(text)}`);
}

/** Maps the language of a block to the program in which a reader types it. */
const typedIn: Readonly<Record<string, string>> = { sh: 'Shell', console: 'Shell', promql: 'Prometheus' };

function alertList(text: string): string {
  const links = [...text.matchAll(/<h3 id="(zlb\w+)">(Zlb\w+)<\/h3>/g)].map(
    ([, id, name]) => `<li><a href="#${id}">${name}</a></li>`,
  );
  return `<nav aria-label="Runbooks of the alerts"><ul class="alerts">${links.join('')}</ul></nav>`;
}

const labels = runbookLabels.join('|');
/** Matches names of the demonstration that stand for a label; other values of `file=` are new files. */
const example = /\b(?:(appliance|farm|service|backend)=([\w.:-]+)|(file)=(soon_example_com\.pem))/g;

/** Marks the gaps for labels; in queries, they replace names of the demonstration. */
function markGaps(code: string, language: string | undefined): string {
  if (language === 'promql')
    return code.replaceAll(
      new RegExp(`\\b(${labels})="[^"]+"`, 'g'),
      (_, label: string) => `${label}="<var data-query="${label}">$${label}</var>"`,
    );
  if (language !== 'sh') return code;
  return markShellVariables(code)
    .replaceAll(exampleAddress, (address) => `<var data-own="${addressKinds[address]}">${address}</var>`)
    .replaceAll(example, (_, label: string, value: string, file: string, name: string) =>
      label ? `${label}=${gapMarkup(label, value)}` : `${file}=${gapMarkup(file, name)}`,
    );
}

function markShellVariables(code: string): string {
  return code.replaceAll(new RegExp(String.raw`\$(${labels})\b`, 'g'), '<var data-shell="$1">$$$1</var>');
}

/** Addresses in examples that the page can replace by real ones. */
const addressKinds: Readonly<Record<string, keyof RunbookAddresses>> = {
  'http://127.0.0.1:9445': 'gateway',
  'http://localhost:9444': 'exporter',
  'https://192.0.2.10:444': 'appliance',
  'zlb.yml': 'configuration',
};
const exampleAddress =
  /(?<=--config\.file=)zlb\.yml|http:\/\/127\.0\.0\.1:9445|http:\/\/localhost:9444|https:\/\/192\.0\.2\.10:444/g;

function gapMarkup(label: string, shown: string): string {
  return `<var data-shell="${label}">${shown}</var>`;
}

/** Marks the place for the remarks below a heading: on the labels of the section, and on the gateway. */
function markRemark(section: string): string {
  const used = runbookLabels.filter((label) => section.includes(`="${label}">$${label}</var>`));
  const labels = used.length === 0 ? '' : `<!--labels ${used.join(' ')}-->`;
  const gateway = section.includes('zlb-exporter admin ') ? '<!--gateway-->' : '';
  return section.replace(/<\/h[23]>\n/, `$&${gateway}${labels}\n`);
}

function withoutMarkdown(markdown: string): string {
  return markdown.replaceAll(/[`*_]/g, '');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
