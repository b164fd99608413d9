import { parseDuration } from '../lib/time.ts';

/** A flag; one with an example has a value. */
export interface Flag {
  readonly example?: string;
  readonly short?: string;
  /** Stands for the value in the help. */
  readonly value?: string;
  /** Its line in the help; a flag without one is explained beside another. */
  readonly about?: string;
  /** The beginning of that line, if it is not only the flag. */
  readonly label?: string;
  /** The values that shells complete: the only words that it can be, or the name of a file. */
  readonly values?: readonly string[] | 'files';
  /** Returns what the value must be; undefined for a right one. */
  readonly validate?: (value: string) => string | undefined;
}

export type FlagTable = Readonly<Record<string, Flag>>;

export function helpLines(flags: FlagTable, width = 25): string {
  return Object.entries(flags)
    .filter(([, { about }]) => about !== undefined)
    .map(([name, flag]) => `  ${labelOf(name, flag).padEnd(width)}  ${flag.about}`.trimEnd())
    .join('\n');
}

export function labelOf(name: string, { value, label }: Flag): string {
  return label ?? `--${name}${value === undefined ? '' : `=${value}`}`;
}

/** Returns what the value of a flag must be; undefined for a right one. */
export function flagValueError({ values, validate }: Flag, value: string): string | undefined {
  if (Array.isArray(values) && !values.includes(value)) return `must be one of ${values.join(', ')}`;
  return validate?.(value);
}

export function durationError(value: string): string | undefined {
  return parseDuration(value) === undefined ? 'must be a duration such as 90s or 5m' : undefined;
}
