/** One family as a scraper reads it. */
export interface ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ReadSample[];
}

export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const headerLine = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/;
const labelStart = /([a-zA-Z_]\w*)="/y;
const labelText = /(?:[^"\\]|\\[\\"n])*/y;
const number = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/;

/**
 * Reads an exposition more strictly than Prometheus does: HELP, then TYPE, then samples, every
 * family once and in one block, no series twice, every line ended. In OpenMetrics `# EOF` is the
 * last line, and counters are named without their suffix. Throws with the line at fault.
 */
export function parseExposition(text: string, format: 'text' | 'openmetrics'): ReadFamily[] {
  const families: (Omit<ReadFamily, 'samples'> & { samples: ReadSample[] })[] = [];
  const names = new Set<string>();
  const series = new Set<string>();
  let help: { readonly name: string; readonly text: string } | undefined;
  for (const line of linesOf(text, format)) {
    const [, kind, name = '', rest = ''] = headerLine.exec(line) ?? [];
    if (kind === 'HELP') {
      demand(help === undefined, 'HELP without its TYPE', line);
      demand(!names.has(name), 'a family twice', line);
      names.add(name);
      help = { name, text: rest };
    } else if (kind === 'TYPE') {
      demand(help?.name === name, 'TYPE without its HELP', line);
      families.push({ name, help: help?.text ?? '', type: rest, samples: [] });
      help = undefined;
    } else {
      const family = families.at(-1);
      const sample = parseSample(line);
      demand(help === undefined && family !== undefined, 'a sample outside of a family', line);
      demand(
        suffixes(family, format).some((suffix) => sample.name === family.name + suffix),
        'a sample of another family',
        line,
      );
      const identity = `${sample.name}${labelsInOrder(sample)}`;
      demand(!series.has(identity), 'a series twice', line);
      series.add(identity);
      family.samples.push(sample);
    }
  }
  return families;
}

function linesOf(text: string, format: 'text' | 'openmetrics'): string[] {
  demand(text === '' || text.endsWith('\n'), 'an unfinished last line', text.slice(-80));
  const lines = text.split('\n').slice(0, -1);
  if (format === 'openmetrics') demand(lines.pop() === '# EOF', 'no EOF', text.slice(-80));
  return lines;
}

function suffixes({ type }: { readonly type: string }, format: 'text' | 'openmetrics'): readonly string[] {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'];
  return type === 'counter' && format === 'openmetrics' ? ['_total'] : [''];
}

function parseSample(line: string): ReadSample {
  const [name = ''] = /^[a-zA-Z_:][\w:]*/.exec(line) ?? [];
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] === '{') {
    do {
      labelStart.lastIndex = at + 1;
      const [start, label = ''] = labelStart.exec(line) ?? [];
      demand(start !== undefined && !(label in labels), 'a bad label', line);
      labelText.lastIndex = labelStart.lastIndex;
      labels[label] = unescape(labelText.exec(line)?.[0] ?? '');
      at = labelText.lastIndex + 1;
      demand(line[at - 1] === '"', 'an unfinished label', line);
    } while (line[at] === ',');
    demand(line[at] === '}', 'unfinished labels', line);
    at += 1;
  }
  const value = line.slice(at + 1);
  demand(name !== '' && line[at] === ' ' && number.test(value), 'a bad sample', line);
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function labelsInOrder({ labels }: ReadSample): string {
  return JSON.stringify(
    Object.keys(labels)
      .toSorted()
      .map((label) => [label, labels[label]]),
  );
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\\"n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}

function demand(holds: boolean, problem: string, line: string): asserts holds {
  if (!holds) throw new Error(`${problem}: ${JSON.stringify(line)}`);
}
