/**
 * Finds a name that one object of a JSON text has twice, at any depth; escaped spellings count as
 * the letters that they stand for. Readers differ in which of the two they take. The text must be
 * valid JSON.
 */
export function repeatedName(json: string): string | undefined {
  /** The names so far of each enclosing object, innermost last; undefined for a list. */
  const enclosing: (Set<string> | undefined)[] = [];
  // No recursion: the sender chooses the depth.
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '{') enclosing.push(new Set());
    else if (sign === '[') enclosing.push(undefined);
    else if (sign === '}' || sign === ']') enclosing.pop();
    else if (sign === '"') {
      const end = endOfString(json, at);
      if (isName(json, end)) {
        const names = enclosing.at(-1);
        const name = String(JSON.parse(json.slice(at, end)));
        if (names?.has(name)) return name;
        names?.add(name);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Returns the offset behind the string that begins at a quote. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Returns true if a colon follows, which marks a name. */
function isName(json: string, end: number): boolean {
  let at = end;
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at += 1;
  return json[at] === ':';
}
