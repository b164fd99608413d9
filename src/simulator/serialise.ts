import { isRecord } from '../lib/check.ts';
import type { Release } from './world.ts';

/** Prints JSON as the release does: keys sorted, compact on the newest line, indented on older ones (docs/api.md §1.5). */
export function serialise(value: unknown, release: Release): string {
  return release === 'newest' ? JSON.stringify(sorted(value)) : `${indented(value, '')}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, inner]) => [key, sorted(inner)]));
}

function indented(value: unknown, margin: string): string {
  const inner = `${margin}   `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${margin}]`;
  }
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = sortedEntries(value);
  if (entries.length === 0) return '{}';
  return `{\n${entries.map(([key, item]) => `${inner}${JSON.stringify(key)} : ${indented(item, inner)}`).join(',\n')}\n${margin}}`;
}

function sortedEntries(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
