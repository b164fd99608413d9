/** Parses `host:port`, `[v6]:port`, or `:port` for every address; undefined for any other text. */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  return match && port <= 65_535 ? { host: match[1] ?? match[2] ?? '', port } : undefined;
}
