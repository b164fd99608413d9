/** `find`, carried out once for each text; for what takes long to find out and stays the same. */
export function remembered<Found>(find: (text: string) => Found): (text: string) => Found {
  const known = new Map<string, { readonly found: Found }>();
  return (text) => {
    const entry = known.get(text) ?? { found: find(text) };
    known.set(text, entry);
    return entry.found;
  };
}
