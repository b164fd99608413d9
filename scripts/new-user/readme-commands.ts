import { marked, type Tokens } from 'marked';

/** The lines of all `sh` blocks of a document, in its order, without remarks behind them. */
export function shellLines(markdown: string): readonly string[] {
  const lines: string[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    if (!isShell(token)) return;
    const written = token.text.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim());
    lines.push(...written.filter((line) => line !== ''));
  });
  return lines;
}

function isShell(token: { readonly type: string }): token is Tokens.Code {
  return token.type === 'code' && 'lang' in token && token.lang === 'sh';
}

/** The first line that has all of these words; throws when the document tells no such thing. */
export function lineWith(lines: readonly string[], ...words: readonly string[]): string {
  const line = lines.find((each) => words.every((word) => each.includes(word)));
  if (line === undefined)
    throw new Error(`the README has no command with ${words.join(' and ')}; a newcomer needs one`);
  return line;
}
