import { writeFileSync } from 'node:fs';

/** One line of `results.json`. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms';
  /** The same for what we compare ourselves with, in the same run. */
  readonly reference: number;
  /** Value divided by reference. */
  readonly ratio: number;
  /** The greatest ratio that is good enough. */
  readonly goal: number;
  readonly holds: boolean;
}

export function compare(name: string, valueMs: number, referenceMs: number, goal: number): Result {
  const ratio = valueMs / referenceMs;
  return {
    name,
    value: rounded(valueMs),
    unit: 'ms',
    reference: rounded(referenceMs),
    ratio: rounded(ratio),
    goal,
    holds: ratio <= goal,
  };
}

export function writeResults(results: readonly Result[]): void {
  writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
}

export function table(results: readonly Result[]): string {
  const rows = [
    ['', 'ours', 'reference', 'ratio', 'goal', 'holds'],
    ...results.map(({ name, value, unit, reference, ratio, goal, holds }) => [
      name,
      `${value} ${unit}`,
      `${reference} ${unit}`,
      String(ratio),
      `at most ${goal}`,
      holds ? 'yes' : 'NO',
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
