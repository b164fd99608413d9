import { cpus, loadavg, release, totalmem } from 'node:os';
import { readBuildInfo } from '../src/app/build-info.ts';

/** One line of results. */
export interface Result {
  readonly name: string;
  /** Absent where it could not be measured. */
  readonly value?: number;
  readonly unit: 'ms' | 's' | 'MB' | 'CPU s/s' | 'exponent' | 'calls';
  /** The same of the reference, in the same run. */
  readonly reference?: number;
  /** Value divided by reference. */
  readonly ratio?: number;
  /**
   * The highest ratio that is good enough, or the highest value without a reference; absent for a
   * figure without a goal.
   */
  readonly goal?: string;
  readonly held?: boolean;
}

export interface Compared {
  readonly name: string;
  readonly unit: Result['unit'];
  readonly ours: number;
  readonly reference: number;
  readonly atMost?: number;
}

export function compare({ name, unit, ours, reference, atMost }: Compared): Result {
  const ratio = ours / reference;
  const goal = atMost === undefined ? {} : { goal: `at most ${atMost} ×`, held: ratio <= atMost };
  return { name, value: rounded(ours), unit, reference: rounded(reference), ratio: rounded(ratio), ...goal };
}

/** Makes the result of a measure without a reference. */
export function absolute({
  name,
  unit,
  value,
  atMost,
}: Pick<Result, 'name' | 'unit'> & { readonly value: number; readonly atMost?: number }): Result {
  const goal = atMost === undefined ? {} : { goal: `at most ${atMost} ${unit}`, held: value <= atMost };
  return { name, value: rounded(value), unit, ...goal };
}

/** Makes the result of measurements that failed, which is a goal that is missed. */
export function failed(name: string, because: string): Result {
  return { name: `${name}: ${because}`, unit: 's', goal: 'measured', held: false };
}

export function table(results: readonly Result[]): string {
  return inColumns([
    ['', 'ours', 'reference', 'ratio', 'goal', ''],
    ...results.map(({ name, value, unit, reference, ratio, goal = '', held }) => [
      name,
      Number.isFinite(value) ? `${value} ${unit}` : '–',
      reference === undefined ? '' : `${reference} ${unit}`,
      String(ratio ?? ''),
      goal,
      held === undefined ? '' : held ? 'held' : 'MISSED',
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

/** Returns what a file of results says of its run: when, of which commit, and where. */
export function runFacts() {
  const { version, revision, nodeVersion } = readBuildInfo({});
  return {
    date: new Date().toISOString(),
    commit: revision,
    versions: { exporter: version, node: nodeVersion },
    machine: {
      processors: cpus().map(({ model }) => model),
      memoryBytes: totalmem(),
      kernel: release(),
      /**
       * The load of the last 1, 5 and 15 minutes before the run: others may use the machine too.
       */
      load: loadavg().map((load) => Number(load.toFixed(1))),
    },
  };
}
