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
