import { type Secret, minFindableLength } from '../lib/secret.ts';

/**
 * Returns a pattern that matches the key in every spelling that a JSON text allows: each character as it is, as `\uXXXX`,
 * or as `\"`, `\\` and `\/`. Undefined for a key that is too short to be searched for. A key is printable ASCII
 * (`apiKey` of the configuration), so no other escape can stand for a part of it. The pattern repeats nothing, so that no
 * text can make the search long or fail.
 */
export function spellingsOf(key: Secret): RegExp | undefined {
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
