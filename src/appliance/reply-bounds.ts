import type { FailureReason } from './errors.ts';

export interface ReplyFault {
  readonly reason: Extract<FailureReason, 'oversize' | 'malformed'>;
  readonly because: string;
}

/** Maximum nesting of a reply. The deepest recorded one has 7 levels. */
export const maxDepth = 32;

/** Maximum number of values of a reply; a row of the endpoint table may allow more. */
export const defaultMaxValues = 50_000;
/** The maximum of values applies to this limit of bytes, and rises with a higher one. */
const defaultBodyBytes = 8 * 1_048_576;

/**
 * Returns how many values a reply may hold, for a row's own bound and the configured limit of
 * bytes.
 */
export function maxValuesOf(ofRow: number | undefined, bodyBytes: number): number {
  return Math.round((ofRow ?? defaultMaxValues) * Math.max(1, bodyBytes / defaultBodyBytes));
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Checks a text before it is parsed as JSON, because parsing and decoding cannot be interrupted.
 * Counts values (commas and opened containers outside strings, an upper bound) and nesting, in one
 * pass without recursion. Accepts texts that are not JSON; parsing refuses them.
 */
export function faultOf(text: string, maxValues: number): ReplyFault | undefined {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === comma) {
      values += 1;
    } else if (code === openBracket || code === openBrace) {
      values += 1;
      depth += 1;
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1;
    }
    if (depth > maxDepth) return tooDeep;
    if (values > maxValues) return tooMany(maxValues);
  }
  return undefined;
}

/**
 * Replaces a list at the top of a reply by the number of its items, if nothing else of it is read:
 * it may have far more items than the rest of the reply. A text without it stays as it is.
 */
export function withLengthOf(list: string, text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openBracket || code === openBrace) depth += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
    if (code !== quote) continue;
    const end = endOfString(text, at);
    const isKey = depth === 1 && end - at - 1 === list.length && text.startsWith(list, at + 1);
    const open = isKey ? (/^"\s{0,9}:\s{0,9}\[/.exec(text.slice(end, end + 22))?.[0].length ?? 0) : 0;
    if (open > 0) return withLengthAt(text, end + open - 1);
    at = end;
  }
  return text;
}

/** Writes a number in the place of the list that begins at `start`. */
function withLengthAt(text: string, start: number): string {
  let depth = 0;
  let commas = 0;
  let isEmpty = true;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === closeBracket || code === closeBrace) depth -= 1;
    if (depth === 0 && at > start) return `${text.slice(0, start)}${isEmpty ? 0 : commas + 1}${text.slice(at + 1)}`;
    if (at > start && code > 0x20) isEmpty = false;
    if (code === comma && depth === 1) commas += 1;
    if (code === openBracket || code === openBrace) depth += 1;
    if (code === quote) at = endOfString(text, at);
  }
  return text;
}

/**
 * Returns where the string that begins at `start` ends: the place of its closing quote, or the end
 * of the text.
 */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return at;
}

const tooDeep: ReplyFault = {
  reason: 'malformed',
  because: `the body is nested more than ${maxDepth} deep, which no reply of the API is`,
};

function tooMany(maxValues: number): ReplyFault {
  const remedy = 'raise limits.body_bytes if such a reply is expected, which raises this bound in proportion';
  return { reason: 'oversize', because: `the reply holds more than ${maxValues} values; ${remedy}` };
}
