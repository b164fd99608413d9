import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../lib/check.ts';
import { redacted } from '../lib/secret.ts';

/** Deeper values are redacted as a whole; no setting of the API is nested that deep. */
const deepest = 32;
/** Limits a line of the audit, which people read. */
const maxWrittenBytes = 16_384;

/**
 * Returns what may be recorded of a body: JSON without secrets and with long values shortened;
 * otherwise size and digest.
 */
export function maskBody(body: Buffer, contentType: string): unknown {
  const value = contentType.startsWith('application/json') ? parseJson(body) : undefined;
  if (value === undefined) return { bytes: body.length, sha256: digestOf(body) };
  // Masked before shortening: half a secret would not be recognised.
  return shorten(maskValue(value), maxWrittenBytes);
}

/**
 * Masks a JSON value: secrets by field name, and in texts PEM and passwords in URLs, headers and
 * commands.
 */
export function maskValue(value: unknown): unknown {
  return maskNested(value, '', 0);
}

function maskNested(value: unknown, name: string, depth: number): unknown {
  if (isSecretName(name) || depth > deepest) return redacted;
  if (typeof value === 'string') return maskText(name === 'command' ? maskOptions(value) : value);
  if (Array.isArray(value)) return value.map((item) => maskNested(item, '', depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskNested(item, key, depth + 1)]));
}

/**
 * Field names of the API (docs/api.md §3, §4, §6), and likely names in fields of unknown shape,
 * such as cloud credentials.
 */
const secretName =
  /passw|passphrase|passcode|pwd|(?<!by|com)pass$|secret|credential|token|community|psk|keys?$|(?:api|access|private|ssh)key|authori[sz]ation|^cookie$|^(?:user)?pin(?:code)?$/;
/** Usual names of secrets in texts; as a field name, `auth` is a method. */
const secretWord = /pw\d*$|auth$|creds?$|^bearer$/;

function isSecretName(name: string): boolean {
  return secretName.test(plainName(name));
}

/** Reduces a name to lower-case letters and digits, so that one pattern matches all spellings. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Masks PEM, passwords in URLs and values after names such as `password` in a text; leaves masked
 * values unchanged.
 */
export function maskText(text: string): string {
  if (text.includes('-----BEGIN')) return '[redacted PEM]';
  // The quantifiers are bounded, so that a long text cannot cause long backtracking.
  return maskAssignments(text.replaceAll(/:\/\/[^\s/?#]{1,512}@/g, `://${redacted}@`));
}

/** Matches `Authorization: …` to the end of its line, and `password=…` to the end of its word. */
function maskAssignments(text: string): string {
  let masked = '';
  let from = 0;
  for (const { index, 0: found, 1: name = '', 2: sign } of text.matchAll(
    /(?<![\w-])([\w-]{1,64})["']?\s{0,8}([:=])[^\S\r\n]{0,8}/g,
  )) {
    if (index < from || !(isSecretName(name) || secretWord.test(plainName(name)))) continue;
    const start = index + found.length;
    const value = sign === ':' ? /[^\r\n]*/y : /"[^"]*"?|'[^']*'?|[^\s&;]*/y;
    value.lastIndex = start;
    value.test(text);
    masked += text.slice(from, start) + redacted;
    from = value.lastIndex;
  }
  return masked + text.slice(from);
}

/**
 * Matches options with secrets of health-check commands; the one-letter options are those of the
 * usual checks.
 */
function maskOptions(command: string): string {
  return command.replaceAll(
    /(?<!\S)--?([\w-]{1,64}) {1,8}(?!-)("[^"]*"?|'[^']*'?|\S+)/g,
    (option, name: string, value: string) =>
      isSecretName(name) || (['a', 'C', 'p'].includes(name) && !/^(?:\d+|PORT)$/.test(value))
        ? option.slice(0, -value.length) + redacted
        : option,
  );
}

/** A remark about omitted data is shorter, its digest included. */
const remarkBytes = 120;
/**
 * Minimum size of an entry: enough for a remark instead of its name and one instead of its value.
 */
const minBytes = 256;

type Entry = readonly [name: string, value: unknown];

/**
 * Shortens a JSON value to a number of bytes. Short entries come first and stay whole; of a long
 * text the start is left, of many entries as many as fit, each with a remark and the digest.
 */
function shorten(value: unknown, maxBytes: number): unknown {
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

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
