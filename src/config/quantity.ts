import { parseDuration } from '../lib/time.ts';
import type { Parsed } from './problems.ts';

/** The limits of a quantity, each written as in the file. */
export interface QuantityLimits {
  /** Exclusive, unlike the other two. */
  readonly above?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Parses a duration to milliseconds. */
export const duration = quantity('a duration such as 20s or 1m30s', parseDuration);

/** Parses a size to bytes. */
export const byteSize = quantity('a size such as 8MiB', parseByteSize);

/** Parses a ratio, written as `10%` or `0.1`. */
export const ratio = quantity('a share such as 10% or 0.1', parseRatio);

/** Returns `more than 0s and at most 10m`, for messages and documentation; '' without limits. */
export function describeLimits({ above, from, to }: QuantityLimits): string {
  return [above && `more than ${above}`, from && `at least ${from}`, to && `at most ${to}`]
    .filter((part) => part !== undefined)
    .join(' and ');
}

function quantity(what: string, parse: (text: string) => number | undefined) {
  return (text: string, limits: QuantityLimits): Parsed<number> => {
    const value = parse(text);
    if (value === undefined) return { problem: `must be ${what}` };
    const limit = (edge: string | undefined) => (edge === undefined ? undefined : parse(edge));
    const fits =
      value > (limit(limits.above) ?? -Infinity) &&
      value >= (limit(limits.from) ?? -Infinity) &&
      value <= (limit(limits.to) ?? Infinity);
    return fits ? { value } : { problem: `must be ${describeLimits(limits)}` };
  };
}

function parseRatio(text: string): number | undefined {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return percent ? Number(amount) / 100 : Number(amount);
}

const unitBytes: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** Returns the bytes of a size such as `8MiB` or `500KB`; undefined for any other text. */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([KMG]i?B|B)$/.exec(text);
  const unit = unitBytes[match?.[2] ?? ''];
  return match && unit ? Math.round(Number(match[1]) * unit) : undefined;
}
