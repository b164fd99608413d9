import { redacted, type Secret, minFindableLength } from '../lib/secret.ts';
import { maskText } from './mask.ts';

/** Takes secrets out of what a careless caller may have put them into. */
export interface Scrubber {
  /** A text that somebody wrote, as it is or percent-encoded: without the tokens and keys known here, and masked as texts in bodies are. */
  text(text: string, token: Secret): string;
  /** A value that is masked already: without known tokens and keys, in the names of its fields too. */
  value(value: unknown, token: Secret): unknown;
}

export interface ScrubberParts {
  /** Keys of the appliances, as they are now. */
  readonly keys: () => readonly Secret[];
  /** Whether a word is the token of anybody at all. */
  readonly isToken: (word: string) => boolean;
}

/** Where a token may begin and end: at blanks, at slashes, at whatever tokens are not made of. */
const words = [/\S+/g, /[^\s/]+/g, /[\w-]+/g] as const;
/** A path is encoded once, or twice by mistake. */
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
    // Left as it was written unless that hides something.
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

/** Unlike decodeURIComponent it goes on where something is no UTF-8, or no hexadecimal number: that must not hide the rest. */
function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
