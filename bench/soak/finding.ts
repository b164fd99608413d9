import { inColumns } from '../results.ts';

/** One line of what a soak found. */
export interface Finding {
  readonly part: string;
  readonly name: string;
  readonly value: string;
  /** The goal, if there is one. */
  readonly goal?: string;
  readonly holds?: boolean;
}

/** Creates a finding that must have no entries; it shows the first few. */
export function none(part: string, name: string, found: readonly string[]): Finding {
  const value = found.length === 0 ? '0' : `${found.length}: ${found.slice(0, 3).join(' | ')}`;
  return { part, name, value, goal: 'none', holds: found.length === 0 };
}

/** Something that has to have happened, or the rest would say nothing. */
export function atLeast(part: string, name: string, count: number, least: number): Finding {
  return { part, name, value: `${count}`, goal: `at least ${least}`, holds: count >= least };
}

/** Handles that an exporter may have opened and not closed. */
export const maxHandlesLeft = 20;

/** Compares the open handles before and after a part. */
export function handlesLeft(part: string, before: number, after: number): Finding {
  return {
    part,
    name: 'open handles afterwards',
    value: `${after}, ${before} before`,
    goal: `at most ${maxHandlesLeft} more`,
    holds: after <= before + maxHandlesLeft,
  };
}

export function table(findings: readonly Finding[]): string {
  return inColumns([
    ['', 'value', 'goal', 'holds'],
    ...findings.map(({ part, name, value, goal = '', holds }) => [
      `${part}: ${name}`,
      value.length > 100 ? `${value.slice(0, 100)}…` : value,
      goal,
      holds === undefined ? '' : holds ? 'yes' : 'NO',
    ]),
  ]);
}
