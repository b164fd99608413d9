import { createHash } from 'node:crypto';
import { isRecord } from '../lib/check.ts';

/** A remark about omitted data is shorter, its digest included. */
const remarkBytes = 120;
/**
 * Minimum size of an entry: enough for a remark instead of its name and one instead of its value.
 */
const minBytes = 256;

type Entry = readonly [name: string, value: unknown];

/**
 * A value out of JSON in at most so many bytes of JSON: what is short stands there whole, before
 * anything that is long; of a long text there is a start, of many entries as many as there is room
 * for, and a remark with the digest each.
 */
export function shorten(value: unknown, maxBytes: number): unknown {
  if (bytesOf(value) <= maxBytes) return value;
  if (typeof value === 'string') return shortenText(value, maxBytes);
  if (Array.isArray(value)) {
    const items = value.map((item): Entry => ['', item]);
    return shortenEntries(items, maxBytes).map(([, item]) => item);
  }
  return isRecord(value) ? Object.fromEntries(shortenEntries(Object.entries(value), maxBytes)) : value;
}

function shortenEntries(entries: readonly Entry[], maxBytes: number): readonly Entry[] {
  const needs = entries.map(([name, value]) => bytesOf(name) + bytesOf(value) + 2);
  const shares = divide(needs, maxBytes - remarkBytes);
  const shown = entries.flatMap(([name, value], index): readonly Entry[] => {
    const share = shares.get(index);
    if (share === undefined) return [];
    const shortName = share === needs[index] ? name : shortenText(name, share / 2);
    return [[shortName, shorten(value, share - bytesOf(shortName) - 2)]];
  });
  if (shown.length === entries.length) return shown;
  const remark = `[${entries.length - shown.length} more entries, sha256 of all ${digestOf(JSON.stringify(entries))}]`;
  return [...shown, ['…', remark]];
}

/**
 * Divides the room: short entries get what they need, the others equal parts; if that is too
 * little, the longest get nothing.
 */
function divide(needs: readonly number[], room: number): ReadonlyMap<number, number> {
  const shares = new Map<number, number>();
  const byNeed = needs.map((need, index) => ({ need, index })).sort((a, b) => a.need - b.need);
  let left = room;
  for (const [served, { need, index }] of byNeed.entries()) {
    const fair = Math.floor(left / (byNeed.length - served));
    const share = Math.min(need, Math.max(fair, minBytes));
    if (share > left) break;
    shares.set(index, share);
    left -= share;
  }
  return shares;
}

function shortenText(text: string, maxBytes: number): string {
  if (bytesOf(text) <= maxBytes) return text;
  const remark = `…[${text.length} characters, sha256 ${digestOf(text)}]`;
  return `${startOf(text, maxBytes - bytesOf(remark))}${remark}`;
}

/** Cuts a text after a whole word: half a word may be half a key, which would not be found. */
function startOf(text: string, maxBytes: number): string {
  for (let length = maxBytes; length >= 1; length = Math.floor(length * 0.9)) {
    const start = /^.*\s/s.exec(text.slice(0, length))?.[0] ?? '';
    if (bytesOf(start) <= maxBytes) return start;
  }
  return '';
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
