import type { StatefulKind } from '../lib/states.ts';
import { counter, type Emit, type Family, gauge, stateSet, type Value } from '../metrics/family.ts';
import type { Entity, ReadingFamily, WriteOptions } from './collector.ts';

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/**
 * Selects the rows of a reading and names their labels, once for all families of these rows: each
 * family has one sample, or one state, for each row. `isDetail` marks rows that an appliance may
 * have in thousands: their families are the first to go at the series limit.
 */
export function rowsOf<Data, Row>(
  select: (data: Data, options: WriteOptions) => Iterable<Row>,
  columns: Columns<Row>,
  { isDetail = false }: { readonly isDetail?: boolean } = {},
) {
  const names = Object.keys(columns);

  function labelsOf(row: Row, all: Columns<Row> = columns): Readonly<Record<string, string>> {
    const labels: Record<string, string> = {};
    for (const [name, text] of Object.entries(all)) labels[name] = text(row);
    return labels;
  }

  function familyOf<Of extends Family>(
    plain: Of,
    writeRow: (emit: Emit, family: Of, row: Row) => void,
  ): ReadingFamily<Data> {
    const family = isDetail ? { ...plain, isDetail } : plain;
    return {
      family,
      write(emit, data, options) {
        for (const row of select(data, options)) writeRow(emit, family, row);
      },
    };
  }

  const numbers = (family: Family, value: (row: Row) => Value): ReadingFamily<Data> =>
    familyOf(family, (emit, written, row) => emit.sample(written, labelsOf(row), value(row)));

  return {
    gauge: (name: string, help: string, value: (row: Row) => Value) => numbers(gauge(name, help, names), value),
    counter: (name: string, help: string, value: (row: Row) => Value) => numbers(counter(name, help, names), value),
    /** Writes the same rows into a family that another collector writes too. */
    into: numbers,
    /**
     * Declares a constant 1 with further labels; `extra` adds labels that only the configuration
     * knows.
     */
    info(name: string, help: string, more: Columns<Row> = {}, extra?: (row: Row) => Readonly<Record<string, string>>) {
      const all = { ...columns, ...more };
      const plain = { ...gauge(name, help, Object.keys(all)), ...(extra && { hasConfiguredLabels: true }) };
      return familyOf(plain, (emit, family, row) => emit.sample(family, labelsOf(row, all), 1, extra?.(row)));
    },
    /** Declares one series per state; a word outside `states` is written as `unknown`. */
    stateSet: (
      name: string,
      help: string,
      states: readonly string[],
      state: (row: Row) => string,
      stateLabel?: string,
    ) =>
      familyOf(stateSet(name, help, names, states, stateLabel), (emit, family, row) =>
        emit.state(family, labelsOf(row), state(row)),
      ),
    /** Declares the rows as objects whose changes of state are logged and counted. */
    entity: (object: StatefulKind, state: (row: Row) => string): Entity<Data> => ({
      object,
      *states(data) {
        for (const row of select(data, { compact: false })) yield { object, labels: labelsOf(row), state: state(row) };
      },
    }),
  };
}

export function writeReading<Data>(
  families: readonly ReadingFamily<Data>[],
  data: Data,
  options: WriteOptions,
): (emit: Emit) => void {
  return (emit) => {
    for (const family of families) family.write(emit, data, options);
  };
}
