import { Transform } from 'node:stream';
import { minFindableLength, redacted, type Secret } from '../lib/secret.ts';
import { oneLine } from '../lib/text.ts';

/** The headers that may carry the key; those with a hyphen pass proxies that drop underscores. */
export const keyHeaderNames = ['ZAPI_KEY', 'API_KEY', 'ZAPI-KEY', 'API-KEY'] as const;

export interface KeyOptions {
  readonly apiKey: Secret;
  /**
   * The key of polling for the gateway, and vice versa: never sent here, but an appliance may show
   * it.
   */
  readonly otherKey?: Secret | undefined;
  readonly keyHeader: 'auto' | (typeof keyHeaderNames)[number];
}

/** Returns the keys to remove from all texts of the appliance. */
export function keysToHide({ apiKey, otherKey }: KeyOptions): readonly Secret[] {
  return otherKey ? [apiKey, otherKey] : [apiKey];
}

/** Returns the headers with the key; `auto` sends both names, for older and newer releases. */
export function keyHeaders({ apiKey, keyHeader }: KeyOptions): Record<string, string> {
  const names = keyHeader === 'auto' ? ['ZAPI_KEY', 'API_KEY'] : [keyHeader];
  return Object.fromEntries(names.map((name) => [name, apiKey.reveal()]));
}

/**
 * Returns a stream that overwrites every occurrence of the key with asterisks, in every spelling of
 * JSON: an appliance may echo the key. No other byte changes, so a Content-Length stays true.
 * Undefined if the key is too short to be searched for.
 */
export function maskStream(secret: Secret): Transform | undefined {
  const mask = createMask(secret);
  if (!mask) return undefined;
  // The last bytes may be the beginning of a key, whose characters take at most six bytes each.
  const maxBeginning = secret.reveal().length * '\\u0000'.length - 1;
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // Masked bytes cannot be part of a key.
      const masked = mask(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      const end = Math.max(0, masked.length - maxBeginning);
      held = masked.subarray(end);
      done(null, masked.subarray(0, end));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** Masks the key in a buffer; returns the same buffer if it does not contain the key. */
export function maskWhole(bytes: Buffer, secret: Secret): Buffer {
  return createMask(secret)?.(bytes) ?? bytes;
}

function createMask(secret: Secret): ((bytes: Buffer) => Buffer) | undefined {
  const spellings = keyPattern(secret);
  if (!spellings) return undefined;
  const plain = secret.reveal();
  const asterisks = (found: string): string => '*'.repeat(found.length);
  return (bytes) => {
    if (!bytes.includes(plain) && !bytes.includes('\\')) return bytes;
    // In latin1, a character is a byte, and every byte is preserved.
    const text = bytes.toString('latin1');
    // Plain first: outside of JSON a backslash of the key may be alone.
    const masked = text.replaceAll(plain, asterisks).replaceAll(spellings, asterisks);
    return masked === text ? bytes : Buffer.from(masked, 'latin1');
  };
}

/**
 * Returns a pattern that matches the key in every spelling that a JSON text allows: each character
 * as it is, as `\uXXXX`, or as `\"`, `\\` and `\/`. Undefined for a key that is too short to be
 * searched for. A key is printable ASCII (`apiKey` of the configuration), so no other escape can
 * stand for a part of it. The pattern repeats nothing, so that no text can make the search long or
 * fail.
 */
function keyPattern(key: Secret): RegExp | undefined {
  const text = key.reveal();
  if (text.length < minFindableLength) return undefined;
  return new RegExp(Array.from(text, spellingsOfCharacter).join(''), 'g');
}

function spellingsOfCharacter(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const plain = `\\x${hex}`;
  const unicode = `\\\\u00${hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
  // In JSON a backslash is never alone; a plain one would make the pattern ambiguous.
  if (character === '\\') return `(?:${unicode}|\\\\\\\\)`;
  if (character === '"' || character === '/') return `(?:${unicode}|\\\\?${plain})`;
  return `(?:${unicode}|${plain})`;
}

/**
 * Returns a function that takes keys out of a body, in whatever way JSON spells them. It works on
 * the text, so that it covers names of members and bodies that are not JSON, and it never throws.
 */
export function createBodyScrubber(keys: readonly Secret[]): (text: string) => string {
  const patterns = keys.map((key) => ({ key, spellings: keyPattern(key) }));
  return (text) =>
    patterns.reduce(
      (clean, { key, spellings }) => (spellings ? key.scrub(clean).replaceAll(spellings, redacted) : clean),
      text,
    );
}

/** Replaces keys in a short text, such as a header. */
export function scrub(text: string, keys: readonly Secret[]): string {
  return keys.reduce((clean, key) => key.scrub(clean), text);
}

/**
 * Returns an untrusted text for a message. Scrubs it before it is cut, or half a key would stay.
 */
export function presentable(text: string, keys: readonly Secret[]): string {
  return oneLine(scrub(text, keys), 250);
}
