import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { fillTemplate, parseRoute } from '../../../src/appliance/route.ts';

export function placeholdersOf(row: EndpointRow): RegExpExecArray[] {
  return [...row.route.matchAll(/\{(\w+)(\*?)\}/g)];
}

/**
 * Returns a request that only this row should match: no other route is as deep as the text of a
 * wildcard here.
 */
export function requestOf(row: EndpointRow): [method: string, path: string] {
  const { method, template } = parseRoute(row.route);
  const params = placeholdersOf(row).map(([, name, star]) => [name ?? '', star ? 'x/x/x/x/x/x/x' : 'x']);
  return [method, fillTemplate(template, Object.fromEntries(params)) ?? ''];
}
