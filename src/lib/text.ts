/** Returns `1 farm` or `2 farms`; for nouns with a regular plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns an untrusted text for use in one line: control and bidirectional characters become
 * spaces, and it is cut to `maxLength` UTF-16 units.
 */
export function oneLine(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed();
}

/** Decodes a percent-encoded text; undefined if the encoding is malformed. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns `find` with a cache of its results, which is never emptied. */
export function remembered<Found>(find: (text: string) => Found): (text: string) => Found {
  const known = new Map<string, { readonly found: Found }>();
  return (text) => {
    const entry = known.get(text) ?? { found: find(text) };
    known.set(text, entry);
    return entry.found;
  };
}
