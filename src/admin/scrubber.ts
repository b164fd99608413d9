import { redacted, type Secret, minFindableLength } from '../lib/secret.ts';
import { maskText } from './mask.ts';

/** Removes secrets from texts and values of callers. */
export interface Scrubber {
  /**
   * Removes known tokens and keys (plain or percent-encoded) from a text, and masks it like texts
   * in bodies.
   */
  text(text: string, token: Secret): string;
  /** Removes known tokens and keys from a masked value, also from its field names. */
  value(value: unknown, token: Secret): unknown;
}

export interface ScrubberParts {
  /** Returns the present keys of the appliances. */
  readonly keys: () => readonly Secret[];
  /** Returns true if a word is any token. */
  readonly isToken: (word: string) => boolean;
}

/**
 * Matches the separators between possible tokens: blanks, slashes, any character that tokens do not
 * contain.
 */
const words = [/\S+/g, /[^\s/]+/g, /[\w-]+/g] as const;
/** A path is encoded once, or by mistake twice. */
const maxEncodings = 4;

export function createScrubber({ keys, isToken }: ScrubberParts): Scrubber {
  const known = (text: string, token: Secret): string => {
    const secrets = [token, ...keys()].filter((secret) => secret.reveal().length >= minFindableLength);
    const withoutKnown = secrets.reduce((scrubbed, secret) => secret.scrub(scrubbed), text);
    return words.reduce(
      (scrubbed, pattern) =>
        scrubbed.replaceAll(pattern, (word) => (word.length >= minFindableLength && isToken(word) ? redacted : word)),
      withoutKnown,
    );
  };

  const text = (given: string, token: Secret, encodings = maxEncodings): string => {
    const clean = maskText(known(given, token));
    const decoded = percentDecoded(clean);
    if (decoded === clean) return clean;
    if (encodings === 0) return redacted;
    const cleanInside = text(decoded, token, encodings - 1);
    // Unchanged unless it contains a secret.
    return cleanInside === decoded ? clean : cleanInside;
  };

  const value = (given: unknown, token: Secret): unknown => {
    if (typeof given === 'string') return known(given, token);
    if (Array.isArray(given)) return given.map((item) => value(item, token));
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, inner]) => [known(name, token), value(inner, token)]));
  };

  return { text: (given, token) => text(given, token), value };
}

/**
 * Decodes like decodeURIComponent, but skips malformed parts, which must not hide a secret in the
 * rest.
 */
function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
