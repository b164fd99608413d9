/**
 * A text from outside as part of a line for people: what commands a terminal or turns the reading direction becomes a
 * space, and what is longer than `maxLength` UTF-16 units is cut.
 */
export function oneLine(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed();
}
