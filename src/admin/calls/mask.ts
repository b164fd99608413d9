import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../../lib/check.ts';
import { redacted } from '../../lib/secret.ts';

/** Deeper values are redacted as a whole; no setting of the API is nested that deep. */
const deepest = 32;
/** Limits a line of the audit, which people read. */
const maxWrittenBytes = 16_384;
/** The characters that are shown of a longer body. */
const shownLength = 4_096;

/**
 * Returns what may be recorded of a body: JSON without secrets; of a long one its beginning, size
 * and digest; of anything else size and digest.
 */
export function maskBody(body: Buffer, contentType: string): unknown {
  const value = contentType.startsWith('application/json') ? parseJson(body) : undefined;
  const whole = { bytes: body.length, sha256: digestOf(body) };
  if (value === undefined) return whole;
  // Masked before it is cut: half a secret would not be recognised.
  const masked = maskNested(value, '', 0, { left: maxWrittenBytes });
  const json = JSON.stringify(masked);
  return Buffer.byteLength(json) <= maxWrittenBytes ? masked : { ...whole, beginning: startOf(json) };
}

/**
 * Masks a JSON value: secrets by field name, and in texts PEM and passwords in URLs, headers and
 * commands.
 */
export function maskValue(value: unknown): unknown {
  return maskNested(value, '', 0, { left: Number.POSITIVE_INFINITY });
}

/** The number of bytes that may still be written; entries after it are left out. */
interface Room {
  left: number;
}

function maskNested(value: unknown, name: string, depth: number, room: Room): unknown {
  // Each value takes a comma, a bracket or a digit at least.
  room.left -= name.length + 1;
  if (isSecretName(name) || depth > deepest) return redacted;
  if (typeof value === 'string') {
    const text = maskText(name === 'command' ? maskOptions(value) : value);
    room.left -= text.length;
    return text;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) if (room.left >= 0) items.push(maskNested(item, '', depth + 1, room));
    return items;
  }
  if (!isRecord(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value))
    if (room.left >= 0) entries.push([key, maskNested(item, key, depth + 1, room)]);
  return Object.fromEntries(entries);
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

/**
 * Cuts a JSON text after a whole word or a whole string: half a word may be half a key, which would
 * not be found.
 */
function startOf(json: string): string {
  return /^.*(?:\s|[^\\]")/s.exec(json.slice(0, shownLength))?.[0] ?? '';
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
