import { createHash } from 'node:crypto';
import { isRecord } from '../lib/check.ts';
import { redacted } from '../lib/secret.ts';
import { shorten } from './shorten.ts';

/** What is nested deeper is redacted as a whole: no setting of the API is. */
const deepest = 32;
/** A line of the audit is for reading. */
const maxWrittenBytes = 16_384;

/** What may be written of a body: JSON without its secrets, and of what is very long in it a start; anything else as its size and digest. */
export function maskBody(body: Buffer, contentType: string): unknown {
  if (contentType.startsWith('application/json')) {
    try {
      // Masked first: of a secret that was cut in two, neither half could be told.
      return shorten(maskValue(JSON.parse(body.toString())), maxWrittenBytes);
    } catch {
      // Told by its digest, as all that is not JSON.
    }
  }
  return { bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') };
}

/** A value out of JSON without its secrets: by the names of its fields, and in its texts PEM and passwords in URLs, headers and commands. */
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

/** Names of the API (docs/api.md §3, §4, §6), and what the fields of unknown shape may be called, such as those of cloud credentials. */
const secretName =
  /passw|passphrase|passcode|pwd|(?<!by|com)pass$|secret|credential|token|community|psk|keys?$|(?:api|access|private|ssh)key|authori[sz]ation|^cookie$|^(?:user)?pin(?:code)?$/;
/** What people call a secret in a text; as the name of a field, `auth` is a method. */
const secretWord = /pw\d*$|auth$|creds?$|^bearer$/;

function isSecretName(name: string): boolean {
  return secretName.test(plainName(name));
}

/** Strips a name to its small letters and digits, so that one pattern fits all spellings. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** A text without PEM, passwords in URLs and what stands behind names such as `password`; what is masked already stays as it is. */
export function maskText(text: string): string {
  if (text.includes('-----BEGIN')) return '[redacted PEM]';
  // The quantifiers are bounded, so that a long text cannot keep them busy.
  return maskAssignments(text.replaceAll(/:\/\/[^\s/?#]{1,512}@/g, `://${redacted}@`));
}

/** `Authorization: …` to the end of its line, `password=…` to the end of its word. */
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

/** A health check gets its secrets as options; those of one letter are the ones of the usual checks. */
function maskOptions(command: string): string {
  return command.replaceAll(
    /(?<!\S)--?([\w-]{1,64}) {1,8}(?!-)("[^"]*"?|'[^']*'?|\S+)/g,
    (option, name: string, value: string) =>
      isSecretName(name) || (['a', 'C', 'p'].includes(name) && !/^(?:\d+|PORT)$/.test(value))
        ? option.slice(0, -value.length) + redacted
        : option,
  );
}
