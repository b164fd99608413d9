/**
 * The value of the one series with this name whose labels include those given; undefined when there
 * is none.
 */
export function valueOf(page: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const [first, ...more] = seriesOf(page, name, labels);
  if (more.length > 0) throw new Error(`${name}${JSON.stringify(labels)} is not one series but ${more.length + 1}`);
  return first === undefined ? undefined : Number(first.slice(first.lastIndexOf(' ') + 1));
}

/** The lines of all series with this name whose labels include those given. */
export function seriesOf(page: string, name: string, labels: Readonly<Record<string, string>> = {}): string[] {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return [...linesOf(page, name)].filter((line) => wanted.every((part) => line.includes(part)));
}

/** Searches the text: a page has thousands of lines, and tests look at hundreds of pages. */
function* linesOf(page: string, name: string): Generator<string> {
  let end = 0;
  for (let at = page.indexOf(name); at !== -1; at = page.indexOf(name, end)) {
    const newline = page.indexOf('\n', at);
    end = newline === -1 ? page.length : newline;
    const isFirst = at === 0 || page[at - 1] === '\n';
    if (isFirst && ['{', ' '].includes(page[at + name.length] ?? '')) yield page.slice(at, end);
  }
}

/** The state that a set is in: the value of its state label on the one series that is 1. */
export function stateOf(
  page: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  stateLabel = 'status',
): string | undefined {
  const current = seriesOf(page, name, labels).filter((line) => line.endsWith(' 1'));
  if (current.length > 1) throw new Error(`${name}${JSON.stringify(labels)} is in ${current.length} states`);
  return new RegExp(`${stateLabel}="([^"]*)"`).exec(current[0] ?? '')?.[1];
}
