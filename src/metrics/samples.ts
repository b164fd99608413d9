import type { Family, StateSet } from './family.ts';

/** A number, or null and undefined for "not known", which writes no sample: absent is not zero. */
export type Value = number | null | undefined;

/** Takes the numbers of a collector. */
export interface Emit {
  sample<Label extends string>(family: Family<Label>, labels: Readonly<Record<Label, string>>, value: Value): void;
  /** Writes one series per state; a word outside the closed list sets `unknown`. */
  state<Label extends string>(set: StateSet<Label>, labels: Readonly<Record<Label, string>>, state: string): void;
  /** Writes a constant 1 whose facts are labels; `extra` adds labels that only the configuration knows. */
  info<Label extends string>(
    family: Family<Label>,
    labels: Readonly<Record<Label, string>>,
    extra?: Readonly<Record<string, string>>,
  ): void;
}
