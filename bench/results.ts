import { writeFileSync } from 'node:fs';

/** One line of `results.json`. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | 'calls/s' | 'MB' | 'CPU s/s' | 'exponent';
  /** The same for what we compare ourselves with, in the same run. */
  readonly reference?: number;
  /** Value divided by reference. */
  readonly ratio?: number;
  /** Which ratio is good enough, or which value where there is no reference; what has no goal stands beside the others. */
  readonly goal?: string;
  readonly holds?: boolean;
}

export interface Compared {
  readonly name: string;
  readonly unit: Result['unit'];
  readonly ours: number;
  readonly reference: number;
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

export function compare({ name, unit, ours, reference, goal }: Compared): Result {
  const ratio = ours / reference;
  return {
    name,
    value: rounded(ours),
    unit,
    reference: rounded(reference),
    ratio: rounded(ratio),
    ...(goal && 'atMost' in goal ? { goal: `at most ${goal.atMost}`, holds: ratio <= goal.atMost } : {}),
    ...(goal && 'atLeast' in goal ? { goal: `at least ${goal.atLeast}`, holds: ratio >= goal.atLeast } : {}),
  };
}

/** Something that there is nothing like to compare it with. */
export function absolute({
  name,
  unit,
  value,
  atMost,
}: Pick<Result, 'name' | 'unit' | 'value'> & { readonly atMost?: number }): Result {
  const goal = atMost === undefined ? {} : { goal: `at most ${atMost} ${unit}`, holds: value <= atMost };
  return { name, value: rounded(value), unit, ...goal };
}

export function writeResults(results: readonly Result[]): void {
  writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
}

export function table(results: readonly Result[]): string {
  return inColumns([
    ['', 'ours', 'reference', 'ratio', 'goal', 'holds'],
    ...results.map(({ name, value, unit, reference, ratio, goal = '', holds }) => [
      name,
      `${value} ${unit}`,
      reference === undefined ? '' : `${reference} ${unit}`,
      String(ratio ?? ''),
      goal,
      holds === undefined ? '' : holds ? 'yes' : 'NO',
    ]),
  ]);
}

/** Rows as text, the first column to the left and the others to the right. */
export function inColumns(rows: readonly (readonly string[])[]): string {
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
