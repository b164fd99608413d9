/** The same text in memory of its own: what is cut out of a page keeps all of the page, which is megabytes. */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
