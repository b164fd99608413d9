import { createHash } from 'node:crypto';

/** Returns `1 farm`, `1,200 farms`; a noun without a regular plural needs it. */
export function plural(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}

/** Words of a list that are shown. */
const shown = 4;

/** Returns `a, b, c, d and 12 more`. */
export function joinFirst(words: readonly string[]): string {
  const rest = words.length - shown;
  return rest > 0 ? `${words.slice(0, shown).join(', ')} and ${rest} more` : words.join(', ');
}

/** Returns what became of a setting: `weight: 1 → 5`; one without a name is a whole object. */
export function changeText(setting: string, before: string | undefined, after: string | undefined): string {
  if (setting !== '') return `${setting}: ${before || 'none'} → ${after || 'none'}`;
  return after === undefined ? `gone: ${before}` : `new: ${after}`;
}

/** Compares names: the same in every locale, and many times as fast as by the rules of one. */
export function compareNames(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/**
 * Returns a text in memory of its own. A part of a longer text keeps all of that one: a name of an
 * appliance would keep a reply of megabytes.
 */
export function copyText(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** Returns the first characters of a text, which keep nothing of the rest. */
export function truncate(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : copyText(text.slice(0, maxLength));
}

/** The part of a pattern for a character that controls, is invisible, or turns the reading direction. */
export const unseen = String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]`;
const unseenRun = new RegExp(`${unseen}+`, 'gu');
const unseenInLines = new RegExp(String.raw`(?!\r?\n|\t)${unseen}`, 'gu');

/**
 * Returns an untrusted text for use in one line: control, bidirectional and unseen characters
 * become spaces, and it is cut to `maxLength` UTF-16 units.
 */
export function oneLine(text: string, maxLength: number): string {
  return truncate(text.replaceAll(unseenRun, ' '), maxLength).toWellFormed();
}

/**
 * Returns lines with each unseen character as JSON escapes it, except tabs and the ends of lines: a
 * terminal would obey it.
 */
export function escapeUnseen(lines: string): string {
  return lines.replaceAll(unseenInLines, (found) =>
    Array.from(
      { length: found.length },
      (_, unit) => `\\u${found.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Returns true for a text of at most this length that {@link oneLine} leaves as it is. */
export function isOneLine(text: string, maxLength: number): boolean {
  return oneLine(text, maxLength) === text;
}

/**
 * Returns a text of at most `maxLength` UTF-16 units that begins like `clean` and ends in a digest
 * of `original`, so that two long texts stay two. Does not keep the longer text in memory.
 */
export function digestForm(clean: string, original: string, maxLength: number): string {
  // By code units: as UTF-8, all lone surrogates would look alike.
  const digest = createHash('sha256').update(original, 'utf16le').digest('hex').slice(0, 12);
  return copyText(`${clean.slice(0, maxLength - digest.length - 1).toWellFormed()}~${digest}`);
}

/**
 * Quotes a word for a shell, if it needs that; of `NAME=VALUE` or `--NAME=VALUE` the value. Each
 * word that people copy goes through here: appliances choose names, and must not add commands.
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const [name = ''] = /^[\w.-]+=/.exec(word) ?? [];
  return `${name}'${word.slice(name.length).replaceAll("'", String.raw`'\''`)}'`;
}

/** Returns a command of the command line for people to copy. */
export function adminCommand(...words: readonly string[]): string {
  return `zlb-exporter admin ${words.map(shellWord).join(' ')}`;
}

/** Decodes a percent-encoded text; undefined if the encoding is malformed. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns `find` with a cache of its results, which is never emptied. */
export function memoize<Found>(find: (text: string) => Found): (text: string) => Found {
  const known = new Map<string, { readonly found: Found }>();
  return (text) => {
    const entry = known.get(text) ?? { found: find(text) };
    known.set(text, entry);
    return entry.found;
  };
}

/**
 * Returns a function that matches whole texts with a pattern, in which `*` stands for any
 * characters. Searches the parts in their order: a regular expression of many stars could backtrack
 * for ever.
 */
export function globMatcher(glob: string): (text: string) => boolean {
  const [first = '', ...between] = glob.split('*');
  const last = between.pop();
  if (last === undefined) return (text) => text === glob;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found === -1) return false;
      from = found + part.length;
    }
    return from <= text.length - last.length;
  };
}

/** Shorter prefixes are ambiguous. */
const minPrefixLength = 4;

/**
 * Returns the candidate that a mistyped word probably means: at most two mistakes, and at most one
 * in three letters; otherwise the only candidate that begins with the word.
 */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    // Skips words of very different length: a word may be a whole file.
    .filter((candidate) => Math.abs(word.length - candidate.length) <= 2)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.min(2, candidate.length / 3))
    .sort((one, other) => one.distance - other.distance);
  if (ranked[0] || word.length < minPrefixLength) return ranked[0]?.candidate;
  const longer = candidates.filter((candidate) => candidate.toLowerCase().startsWith(word.toLowerCase()));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Returns the Damerau-Levenshtein distance of two words. */
function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 0; row < from.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column += 1) {
      const changed = (previous[column] ?? 0) + (from[row] === to[column] ? 0 : 1);
      const exchanged =
        row > 0 && column > 0 && from[row] === to[column - 1] && from[row - 1] === to[column]
          ? (beforePrevious[column - 1] ?? 0) + 1
          : changed;
      current.push(Math.min(changed, exchanged, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
