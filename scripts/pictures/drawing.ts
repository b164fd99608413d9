/** A piece of SVG. */
export type Shape = string;

type Look = 'heading' | 'name' | 'body' | 'small' | 'floor' | 'exit';

export interface Text {
  readonly x: number;
  readonly y: number;
  readonly words: string;
  readonly look: Look;
}

/** Pixels that a letter and a line take, about; pictures are drawn without asking a browser. */
const sizes: Readonly<Record<Look, readonly [letter: number, line: number]>> = {
  heading: [9, 20],
  name: [7.9, 16],
  body: [6.9, 16],
  small: [5.6, 14],
  floor: [12, 24],
  exit: [6.4, 16],
};

export function text({ x, y, words, look }: Text): Shape {
  return `<text class="${look}" x="${round(x)}" y="${round(y)}">${escaped(words)}</text>`;
}

/** Words in as many lines as they need; {@link linesIn} tells how many. */
export function wrapped({ width, ...words }: Text & { readonly width: number }): readonly Shape[] {
  return linesIn(words.words, width, words.look).map((line, index) =>
    text({ ...words, words: line, y: words.y + index * sizes[words.look][1] }),
  );
}

export function linesIn(words: string, width: number, look: Look): readonly string[] {
  const letters = Math.floor(width / sizes[look][0]);
  const lines: string[] = [];
  for (const word of words.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function box(at: {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly look: 'room' | 'outside';
}): Shape {
  const { x, y, width, height, look } = at;
  return `<rect class="${look}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="6"/>`;
}

/** Straight, from one point to another. */
export function arrow(from: readonly [number, number], to: readonly [number, number]): Shape {
  const [x1, y1, x2, y2] = [...from, ...to].map(round);
  return `<line class="arrow" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" marker-end="url(#head)"/>`;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** For who cannot see it. */
  readonly title: string;
  readonly shapes: readonly Shape[];
}

/** A whole picture, which can be read by day and by night. */
export function drawing({ width, height, title, shapes }: Drawing): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" role="img">
<title>${escaped(title)}</title>
<style>
svg { --ink: #1f2328; --quiet: #59636e; --line: #8c959f; --room: #f6f8fa; --paper: #ffffff; --exit: #b3401a; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --quiet: #9da7b1; --line: #6e7681; --room: #1b222b; --paper: #0d1117; --exit: #f0956c; }
}
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.heading { font-size: 16px; font-weight: 600; }
.name { font: 600 13px ui-monospace, monospace; }
.small { font-size: 11px; fill: var(--quiet); }
.floor { font-size: 20px; font-weight: 600; fill: var(--quiet); }
.exit { font-size: 12px; fill: var(--exit); }
rect { fill: var(--room); stroke: var(--line); }
.outside { fill: none; stroke-dasharray: 4 3; }
.paper { fill: var(--paper); stroke: none; }
.arrow { stroke: var(--line); stroke-width: 1.5; }
marker path { fill: var(--line); }
</style>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>
<rect class="paper" width="100%" height="100%"/>
${shapes.filter((shape) => shape !== '').join('\n')}
</svg>
`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
