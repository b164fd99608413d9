import type { IncomingHttpHeaders } from 'node:http';
import { keyHeaderNames } from '../appliance/key-headers.ts';

/** The tokens that a request carries, each once; several different ones are for nobody to choose from. */
export function tokensIn(headers: IncomingHttpHeaders): readonly string[] {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const keys = keyHeaderNames.map((name) => headers[name.toLowerCase()]);
  const found = [bearer, ...keys.flat()].filter((token): token is string => token !== undefined && token !== '');
  return [...new Set(found)];
}

const tokenNames = /^(?:access_?|auth_?)?token$|^(?:z?api[-_]?)?key$|^authorization$|^bearer$/i;

/** True when the query names what only a token is called: a URL ends up in histories, logs and referrers. */
export function hasTokenInQuery(url: string): boolean {
  const query = url.indexOf('?');
  if (query === -1) return false;
  return [...new URLSearchParams(url.slice(query + 1)).keys()].some((name) => tokenNames.test(name));
}
