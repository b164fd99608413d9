import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import GithubSlugger from 'github-slugger';
import { lexer, type Token, type Tokens, walkTokens } from 'marked';

/** A fenced block of a document. */
export interface Block {
  /** From the root of the repository. */
  readonly file: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  /** The word behind the fence; empty when there is none. */
  readonly language: string;
  readonly text: string;
  /** The heading above it, without its marks. */
  readonly heading: string;
  /** The reason in the mark above it, or below the title of the document; undefined without one. */
  readonly notRunBecause: string | undefined;
}

export interface Document {
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The names that a link can have after `#`. */
  readonly anchors: ReadonlySet<string>;
  /** Addresses of links and pictures, as they are written. */
  readonly links: readonly string[];
  /** The texts in single backticks. */
  readonly words: readonly string[];
}

export const root = fileURLToPath(new URL('../../', import.meta.url));

const mark = /^\s*<!-- not run:(.*)-->\s*$/;
/** Index of the line of a mark for all blocks of a document. */
const belowTitle = 2;

/** Every document of the repository. */
export function readDocuments(): readonly Document[] {
  return globSync('**/*.md', { cwd: root, exclude: ['**/node_modules', '**/dist', '**/coverage'] })
    .sort()
    .map((file) => readDocument(file, readFileSync(`${root}${file}`, 'utf8')));
}

/** The blocks of these languages that are run. */
export function blocksToRun(...languages: readonly string[]): readonly Block[] {
  return readDocuments()
    .flatMap(({ blocks }) => blocks)
    .filter(({ language, notRunBecause }) => languages.includes(language) && notRunBecause === undefined);
}

/** One query a line; a line that begins with blanks goes on with the one before. */
export function queriesIn({ text }: Block): readonly string[] {
  return text.split(/\n(?=\S)/).filter((query) => !/^\s*(#|$)/.test(query));
}

function readDocument(file: string, text: string): Document {
  const tokens = lexer(text);
  return { file, text, blocks: blocksOf(tokens, file, text), anchors: anchorsOf(tokens, text), ...namesOf(tokens) };
}

function blocksOf(all: readonly Token[], file: string, text: string): readonly Block[] {
  const lines = text.split('\n');
  let heading = '';
  return within(all, 1);

  function within(tokens: readonly Token[], first: number): readonly Block[] {
    let line = first;
    return tokens.flatMap((token, index) => {
      const at = line;
      line += token.raw.split('\n').length - 1;
      if (isHeading(token)) heading = plain(token.tokens);
      if (isCode(token)) return [blockAt(token, at, tokens[index - 1])];
      return within(isList(token) ? token.items : (('tokens' in token ? token.tokens : undefined) ?? []), at);
    });
  }

  function blockAt({ lang = '', text: code }: Tokens.Code, line: number, before: Token | undefined): Block {
    if (!/^[\s>]*(```|~~~)/.test(lines[line - 1] ?? ''))
      throw new Error(`${file}:${line}: a block by indentation; put it between \`\`\` and say what it is`);
    const own = before?.type === 'html' ? mark.exec(lines[line - 2] ?? '') : null;
    const reason = (own ?? mark.exec(lines[belowTitle] ?? ''))?.[1];
    return { file, line, language: lang, text: code, heading, notRunBecause: reason?.trim() };
  }
}

function anchorsOf(tokens: readonly Token[], text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name));
  for (const token of tokens) if (isHeading(token)) anchors.add(slugger.slug(plain(token.tokens)));
  return anchors;
}

function namesOf(tokens: Token[]): Pick<Document, 'links' | 'words'> {
  const links: string[] = [];
  const words: string[] = [];
  void walkTokens(tokens, (token) => {
    if ((token.type === 'link' || token.type === 'image') && typeof token['href'] === 'string')
      links.push(token['href']);
    if (token.type === 'html')
      links.push(...[...token.raw.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, address = '']) => address));
    if (token.type === 'codespan' && typeof token['text'] === 'string') words.push(token['text']);
  });
  return { links, words };
}

/** A heading as its anchor is made of it: without marks of emphasis, code and links. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? token.text : ''))
    .join('');
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isList(token: Token): token is Tokens.List {
  return token.type === 'list';
}
