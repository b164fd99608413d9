import { counter, detail, type Emit, type Family, gauge, stateSet, type Value } from '../metrics/family.ts';
import type { Entity, ReadingFamily, TransitionObject, WriteOptions } from './collector.ts';

/** Makes families with one sample, or one state, for each of the same rows. */
export interface Rows<Data, Row> {
  gauge(name: string, help: string, value: (row: Row) => Value): ReadingFamily<Data>;
  counter(name: string, help: string, value: (row: Row) => Value): ReadingFamily<Data>;
  /**
   * Declares a constant 1 with further labels; `extra` adds labels that only the configuration
   * knows.
   */
  info(
    name: string,
    help: string,
    more?: Columns<Row>,
    extra?: (row: Row) => Readonly<Record<string, string>>,
  ): ReadingFamily<Data>;
  /** Declares one series per state; a word outside `states` is written as `unknown`. */
  stateSet(
    name: string,
    help: string,
    states: readonly string[],
    state: (row: Row) => string,
    stateLabel?: string,
  ): ReadingFamily<Data>;
  /** Writes the same rows into a family that another collector writes too. */
  into(family: Family, value: (row: Row) => Value): ReadingFamily<Data>;
  /** Declares the rows as objects whose changes of state are logged and counted. */
  entity(object: TransitionObject, state: (row: Row) => string): Entity<Data>;
}

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/**
 * Selects the rows of a reading and names their labels, once for all families of these rows. Rows
 * of which an appliance may have thousands are `detail`: the first families to go at the series
 * limit.
 */
export function rowsOf<Data, Row>(
  select: (data: Data, options: WriteOptions) => Iterable<Row>,
  columns: Columns<Row>,
  { isDetail = false }: { readonly isDetail?: boolean } = {},
): Rows<Data, Row> {
  const names = Object.keys(columns);

  function labelsOf(row: Row, all: Columns<Row> = columns): Readonly<Record<string, string>> {
    const labels: Record<string, string> = {};
    for (const [name, text] of Object.entries(all)) labels[name] = text(row);
    return labels;
  }

  function familyOf<Of extends Family>(plain: Of, writeRow: (emit: Emit, family: Of, row: Row) => void) {
    const family = isDetail ? detail(plain) : plain;
    return {
      family,
      write(emit: Emit, data: Data, options: WriteOptions) {
        for (const row of select(data, options)) writeRow(emit, family, row);
      },
    };
  }

  const numbers = (family: Family, value: (row: Row) => Value): ReadingFamily<Data> =>
    familyOf(family, (emit, written, row) => emit.sample(written, labelsOf(row), value(row)));

  return {
    gauge: (name, help, value) => numbers(gauge(name, help, names), value),
    counter: (name, help, value) => numbers(counter(name, help, names), value),
    into: numbers,
    info(name, help, more = {}, extra = () => ({})) {
      const all = { ...columns, ...more };
      return familyOf(gauge(name, help, Object.keys(all)), (emit, family, row) =>
        emit.sample(family, labelsOf(row, all), 1, extra(row)),
      );
    },
    stateSet: (name, help, states, state, stateLabel) =>
      familyOf(stateSet(name, help, names, states, stateLabel), (emit, family, row) =>
        emit.state(family, labelsOf(row), state(row)),
      ),
    entity: (object, state) => ({
      object,
      *states(data) {
        for (const row of select(data, { compact: false })) yield { object, labels: labelsOf(row), state: state(row) };
      },
    }),
  };
}

/** Writes all that a reading has in its families, in their order. */
export function writeReading<Data>(
  families: readonly ReadingFamily<Data>[],
  data: Data,
  options: WriteOptions,
): (emit: Emit) => void {
  return (emit) => {
    for (const family of families) family.write(emit, data, options);
  };
}
