import * as fc from 'fast-check';

/**
 * A text with up to four small changes: characters put in, taken out, written over, doubled, or the
 * end cut off.
 */
export function edited(text: string): fc.Arbitrary<string> {
  const change = fc.record({
    kind: fc.constantFrom('insert', 'remove', 'replace', 'double', 'cut'),
    at: fc.nat({ max: 1_000_000 }),
    // Parts of the text itself do more harm than foreign ones.
    piece: fc.oneof(
      fc.constantFrom(...text),
      fc.constantFrom('\n', ' ', '\t', '"', "'", ':', '-', '0', '٣', 'é', '\0', '\u2028', '\ud83d'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
  });
  return fc.array(change, { maxLength: 4, minLength: 1 }).map((changes) => {
    let result = text;
    for (const { kind, at, piece } of changes) {
      const index = at % (result.length + 1);
      const rest = result.slice(kind === 'insert' || kind === 'double' ? index : index + 1);
      const put = kind === 'remove' || kind === 'cut' ? '' : kind === 'double' ? result.slice(index, index + 5) : piece;
      result = result.slice(0, index) + put + (kind === 'cut' && at % 5 === 0 ? '' : rest);
    }
    return result;
  });
}
