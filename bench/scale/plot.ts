/** A named line through points; both axes are logarithmic. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const colours = ['#1f6feb', '#d29922', '#8957e5', '#238636'];

/** A plot as a picture, with a dashed line that grows as the x axis does. */
export function svgPlot(xName: string, lines: readonly Line[]): string {
  const [width, height, margin] = [720, 480, 60];
  const { xs, ys } = decades(lines);
  const x = (value: number) => margin + (Math.log10(value / xs.from) / xs.count) * (width - 2 * margin);
  const y = (value: number) => height - margin - (Math.log10(value / ys.from) / ys.count) * (height - 2 * margin);
  const text = (at: readonly [number, number], content: string, rest = '') =>
    `<text x="${at[0].toFixed(0)}" y="${at[1].toFixed(0)}" ${rest}>${content}</text>`;
  const grid = [
    ...ticks(xs).flatMap((tick) => [
      `<path d="M${x(tick)} ${margin}V${height - margin}" stroke="#ddd"/>`,
      text([x(tick), height - margin + 18], tick.toLocaleString('en'), 'text-anchor="middle"'),
    ]),
    ...ticks(ys).flatMap((tick) => [
      `<path d="M${margin} ${y(tick)}H${width - margin}" stroke="#ddd"/>`,
      text([margin - 6, y(tick) + 4], tick.toLocaleString('en'), 'text-anchor="end"'),
    ]),
  ];
  const linear = `<path d="M${x(xs.from)} ${y(ys.from)}L${x(xs.from * 10 ** Math.min(xs.count, ys.count))} ${y(ys.from * 10 ** Math.min(xs.count, ys.count))}" stroke="#999" stroke-dasharray="4"/>`;
  const drawn = lines.flatMap(({ name, points }, index) => {
    const colour = colours[index % colours.length];
    const path = points.map((point) => `${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join('L');
    return [
      `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      text([margin + 10, margin + 18 * (index + 1)], name, `fill="${colour}"`),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...grid,
    linear,
    ...drawn,
    text([width / 2, height - 14], `${xName}; dashed: linear`, 'text-anchor="middle"'),
    '</svg>\n',
  ].join('\n');
}

/** The same for a terminal, a letter a line; a slope of one character to the right and one upward would be steeper than linear. */
export function textPlot(lines: readonly Line[]): string {
  const { xs, ys } = decades(lines);
  const [columns, rows] = [20 * xs.count, 4 * ys.count];
  const canvas = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => ' '));
  for (const [index, { points }] of lines.entries())
    for (const [x, y] of points) {
      const row = canvas[rows - Math.round((Math.log10(y / ys.from) / ys.count) * rows)];
      if (row) row[Math.round((Math.log10(x / xs.from) / xs.count) * columns)] = letter(index);
    }
  const labelled = canvas.map((row, index) => {
    const decade = (rows - index) / 4;
    const label = Number.isInteger(decade) ? (ys.from * 10 ** decade).toLocaleString('en') : '';
    return `${label.padStart(8)} |${row.join('')}`;
  });
  const axis = ticks(xs).map((tick) => tick.toLocaleString('en').padEnd(20));
  return [
    ...lines.map(({ name }, index) => `${letter(index)}: ${name}`),
    ...labelled,
    `${' '.repeat(10)}${axis.join('')}`,
  ].join('\n');
}

function letter(index: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + index);
}

interface Decades {
  readonly from: number;
  readonly count: number;
}

function decades(lines: readonly Line[]): { readonly xs: Decades; readonly ys: Decades } {
  const around = (values: readonly number[]): Decades => {
    const first = Math.floor(Math.log10(Math.min(...values)));
    return { from: 10 ** first, count: Math.max(1, Math.ceil(Math.log10(Math.max(...values))) - first) };
  };
  const points = lines.flatMap((line) => line.points);
  return { xs: around(points.map(([x]) => x)), ys: around(points.map(([, y]) => y)) };
}

function ticks({ from, count }: Decades): number[] {
  return Array.from({ length: count + 1 }, (_, decade) => from * 10 ** decade);
}
