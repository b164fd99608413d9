import { parseByteSize } from '../lib/byte-size.ts';
import { parseDuration } from '../lib/time.ts';
import type { Outcome } from './problems.ts';

/** What a quantity must be; each limit is written as in the file. */
export interface Limits {
  /** Exclusive, unlike the other two. */
  readonly above?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Milliseconds. */
export const duration = quantity('a duration such as 20s or 1m30s', parseDuration);

/** Bytes. */
export const byteSize = quantity('a size such as 8MiB', parseByteSize);

/** A share of one, written as `10%` or `0.1`. */
export const ratio = quantity('a share such as 10% or 0.1', parseRatio);

/** `more than 0s and at most 10m`, for messages and documentation; empty without limits. */
export function limitsInWords({ above, from, to }: Limits): string {
  return [above && `more than ${above}`, from && `at least ${from}`, to && `at most ${to}`]
    .filter((part) => part !== undefined)
    .join(' and ');
}

function quantity(what: string, parse: (text: string) => number | undefined) {
  return (text: string, limits: Limits): Outcome<number> => {
    const value = parse(text);
    if (value === undefined) return { problem: `must be ${what}` };
    const limit = (edge: string | undefined) => (edge === undefined ? undefined : parse(edge));
    const fits =
      value > (limit(limits.above) ?? -Infinity) &&
      value >= (limit(limits.from) ?? -Infinity) &&
      value <= (limit(limits.to) ?? Infinity);
    return fits ? { value } : { problem: `must be ${limitsInWords(limits)}` };
  };
}

function parseRatio(text: string): number | undefined {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return percent ? Number(amount) / 100 : Number(amount);
}
