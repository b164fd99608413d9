/**
 * Tells which whole texts a pattern stands for, in which `*` is any characters. By searching for its parts in their order: an
 * expression of many stars would take years to find that a text does not fit.
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
