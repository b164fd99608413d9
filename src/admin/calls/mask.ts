import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../../lib/check.ts';
import { redactedCharacters } from '../../lib/secret.ts';

/** Deeper values are redacted as a whole; no setting of the API is nested that deep. */
const deepest = 32;
/** Limits a line of the audit, which people read. */
export const maxWrittenBytes = 16_384;
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
  const masked = maskNested(value, '', 0, { characters: maxWrittenBytes });
  const json = JSON.stringify(masked);
  return Buffer.byteLength(json) <= maxWrittenBytes ? masked : { ...whole, beginning: beginningOf(json) };
}

/**
 * Masks a JSON value: secrets by field name, and in texts PEM and passwords in URLs, headers and
 * commands.
 */
export function maskValue(value: unknown): unknown {
  return maskNested(value, '', 0, { characters: Number.POSITIVE_INFINITY });
}

/** The characters that may still be written; entries beyond them are left out. */
interface Budget {
  characters: number;
}

function maskNested(value: unknown, name: string, depth: number, budget: Budget): unknown {
  // Each value takes at least a comma, a bracket or a digit.
  budget.characters -= name.length + 1;
  if (isSecretName(name) || depth > deepest) return redactedValue(value);
  if (typeof value === 'string') {
    const text = maskedFieldText(value, name);
    budget.characters -= text.length;
    return text;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) if (budget.characters >= 0) items.push(maskNested(item, '', depth + 1, budget));
    return items;
  }
  if (!isRecord(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value))
    if (budget.characters >= 0) entries.push([key, maskNested(item, key, depth + 1, budget)]);
  return Object.fromEntries(entries);
}

function maskedFieldText(text: string, name: string): string {
  return maskText(name === 'command' ? maskOptions(text) : text);
}

/** Replaces a value by its length. */
function redactedValue(value: unknown): unknown {
  // Nothing is hidden in what is not set, or masked already.
  if (value === null || value === '' || (typeof value === 'string' && isMasked(value))) return value;
  return redactedCharacters(charactersOf(value));
}

/** Counts the characters of a value, of a list or object those of its names and values. */
function charactersOf(value: unknown): number {
  let count = 0;
  // A queue instead of recursion: an appliance chooses the depth.
  const queue = [value];
  for (const each of queue) {
    if (Array.isArray(each)) for (const item of each) queue.push(item);
    else if (isRecord(each)) for (const [name, item] of Object.entries(each)) queue.push(name, item);
    else count += String(each).length;
  }
  return count;
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
 * Masks keys in PEM, passwords in URLs and values after names such as `password` in a text, and
 * says how many characters each has; leaves all other text, and masked values, unchanged.
 */
export function maskText(text: string): string {
  // The quantifiers are bounded, so that a long text cannot cause long backtracking.
  const withoutUsers = text.replaceAll(/(?<=:\/\/)([^\s/?#]{1,512})(?=@)/g, (user) => redactedCharacters(user.length));
  return maskAssignments(withoutUsers.includes(pemBegin) ? withoutUsers.replaceAll(pemKey, maskPem) : withoutUsers);
}

const pemBegin = '-----BEGIN';
/** Matches the first line of PEM, with the lines of an old encrypted key, and the Base64 after. */
const pemKey =
  /(-----BEGIN[A-Z0-9 ]{0,64}-----(?:\s|\\[rn])*(?:(?:Proc-Type|DEK-Info): ?[\w,-]{1,100}(?:\s|\\[rn])*){0,2})([A-Za-z0-9+/=](?:[A-Za-z0-9+/=\r\n]|\\[rn]| (?=[A-Za-z0-9+/=]{16}))*)/g;

function maskPem(_found: string, begin: string, base64: string): string {
  return begin + redactedCharacters(base64.length);
}

const masked = /\[redacted \d+ characters?\]/y;

function isMasked(text: string): boolean {
  masked.lastIndex = 0;
  return masked.test(text) && masked.lastIndex === text.length;
}

/** Matches a quoted text, or all up to the end of a line or of a command of a shell. */
const restOfLine = /"[^"\r\n]*"|'[^'\r\n]*'|(?:(?!\$\()[^\r\n;|&<>`])*/y;
/** Matches a word, of which parts may be quoted. */
const word = /(?:"[^"]*"|'[^']*'|[^\s;|&<>`"'])+/y;

/** Matches `Authorization: …` to the end of its line, and `password=…` to the end of its word. */
function maskAssignments(text: string): string {
  let shown = '';
  let from = 0;
  for (const { index, 0: found, 1: name = '', 2: sign } of text.matchAll(
    /(?<![\w-])([\w-]{1,64})["']?\s{0,8}([:=])[^\S\r\n]{0,8}/g,
  )) {
    if (index < from || !(isSecretName(name) || secretWord.test(plainName(name)))) continue;
    const start = index + found.length;
    const end = [masked, sign === ':' ? restOfLine : word]
      .map((each) => endOf(each, text, start))
      .find((at) => at > start);
    if (end === undefined) continue;
    const value = text.slice(start, end);
    shown += text.slice(from, start) + (isMasked(value) ? value : redactedCharacters(value.length));
    from = end;
  }
  return shown + text.slice(from);
}

/** Returns where a sticky pattern ends that begins at a place; that place if it does not match. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/**
 * Masks options with secrets of health-check commands; the one-letter options are those of the
 * usual checks.
 */
function maskOptions(command: string): string {
  return command.replaceAll(
    /(?<!\S)--?([\w-]{1,64}) {1,8}(?!-|\[redacted \d)((?:"[^"]*"|'[^']*'|[^\s;|&<>`"'])+)/g,
    (option, name: string, value: string) =>
      isSecretName(name) || (['a', 'C', 'p'].includes(name) && !/^(?:\d+|PORT)$/.test(value))
        ? option.slice(0, -value.length) + redactedCharacters(value.length)
        : option,
  );
}

/** Returns the names of the fields of a JSON value of which something is masked, each once. */
export function maskedFields(value: unknown): readonly string[] {
  const found = new Set<string>();
  const queue: [name: string, value: unknown][] = [['', value]];
  for (const [name, each] of queue) {
    if (isSecretName(name)) {
      if (redactedValue(each) !== each) found.add(name);
    } else if (typeof each === 'string') {
      if (maskedFieldText(each, name) !== each) found.add(name);
    } else if (Array.isArray(each)) for (const item of each) queue.push([name, item]);
    else if (isRecord(each)) queue.push(...Object.entries(each));
  }
  return [...found];
}

/** Returns the texts of a JSON value that its masked copy does not have. */
export function maskedTexts(value: unknown): readonly string[] {
  const texts: string[] = [];
  const pairs: [value: unknown, masked: unknown][] = [[value, maskValue(value)]];
  // A queue instead of recursion: a body may be nested deeper than the stack.
  for (const [each, masked] of pairs) {
    if (typeof each === 'string' && each !== masked) texts.push(each);
    // A masked list or object is a single text.
    else if (Array.isArray(each))
      each.forEach((item: unknown, index) => pairs.push([item, Array.isArray(masked) ? masked[index] : masked]));
    else if (isRecord(each))
      for (const [name, item] of Object.entries(each)) pairs.push([item, isRecord(masked) ? masked[name] : masked]);
  }
  return texts;
}

/**
 * Cuts a JSON text after a whole word or a whole string: half a word may be half a key, which would
 * not be found.
 */
function beginningOf(json: string): string {
  return /^.*(?:\s|[^\\]")/s.exec(json.slice(0, shownLength))?.[0] ?? '';
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
