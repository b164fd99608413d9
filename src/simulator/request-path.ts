/** Where a request goes: to the API with what stands after the program's name, or only as far as the web server. */
export type Destination =
  | {
      readonly to: 'api';
      /** As the API prints it back: decoded, and bytes beyond ASCII taken for latin-1. */
      readonly shown: string;
      /** For the route matcher: percent-encoded again, without the one trailing line feed that the API overlooks. */
      readonly path: string;
    }
  | { readonly to: 'web_server' };

/** Resolves a request target as the appliance's web server does before the API sees it. */
export function destinationOf(target: string, basePaths: readonly string[]): Destination {
  const resolved = resolveDots(decodeBytes(target.replace(/[?#].*$/s, '')));
  const base = basePaths.find((path) => resolved === path || resolved.startsWith(`${path}/`));
  if (base === undefined) return { to: 'web_server' };

  // Recorded: `api.cgi//farms` answers like `api.cgi/farms`, while a doubled slash further on is another path.
  const rest = resolved.slice(base.length).replace(/^\/\//, '/');
  const path = rest
    .replace(/\n$/, '')
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/');
  return { to: 'api', shown: rest.replaceAll('\0', ' '), path };
}

function decodeBytes(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function resolveDots(path: string): string {
  if (!path.includes('/..')) return path;
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else kept.push(segment);
  }
  return `/${kept.filter((segment) => segment !== '').join('/')}`;
}
