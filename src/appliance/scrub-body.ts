import { redacted, type Secret } from '../lib/secret.ts';
import { spellingsOf } from './key-spellings.ts';

/**
 * Returns a function that takes keys out of a body, in whatever way JSON spells them. It works on the text, so that it
 * covers names of members and bodies that are not JSON, and it never throws.
 */
export function createBodyScrubber(keys: readonly Secret[]): (text: string) => string {
  const patterns = keys.map((key) => ({ key, spellings: spellingsOf(key) }));
  return (text) =>
    patterns.reduce(
      (clean, { key, spellings }) => (spellings ? key.scrub(clean).replaceAll(spellings, redacted) : clean),
      text,
    );
}
