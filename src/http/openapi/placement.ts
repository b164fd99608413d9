import type { EndpointRow } from '../../appliance/endpoints/row.ts';
import { type EndpointKey, endpointRows } from '../../appliance/endpoints/table.ts';
import { parseRoute } from '../../appliance/route.ts';

export interface PathParameter {
  readonly name: string;
  /** True if it matches the rest of the path, which OpenAPI cannot express. */
  readonly rest: boolean;
}

/** A row and its path in the document. */
export interface Placement {
  readonly key: EndpointKey;
  readonly row: EndpointRow;
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** The path of the API as in the table. */
  readonly template: string;
  /** The path of the document, below `/appliances/{appliance}`. */
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

const verbs = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/**
 * Gives every row of the table a path of its own, in the order of the table. The standard forbids
 * two paths that differ in the names of their placeholders only: such rows share the path of the
 * first one. Where the verb is taken there, as `GET /ipds/waf/{path*}` finds `GET /ipds/waf/{set}`,
 * a wildcard moves one segment on, to `/ipds/waf/{set}/{path}`.
 */
export function placeRows(): readonly Placement[] {
  const paths = new Map<string, string>();
  const taken = new Set<string>();

  function place(method: string, wanted: string): string {
    const shape = wanted.replaceAll(/\{\w+\}/g, '{}');
    const path = paths.get(shape) ?? wanted;
    if (taken.has(`${method} ${shape}`)) return place(method, `${path}/{path}`);
    paths.set(shape, path);
    taken.add(`${method} ${shape}`);
    return path;
  }

  const rows = endpointRows;
  const placements = new Map<EndpointKey, Placement>();
  // Rows without a wildcard first, so that wildcards get the paths that are left.
  for (const [key, row] of rows.toSorted((a, b) => Number(isWildcard(a[1])) - Number(isWildcard(b[1])))) {
    const { method, template } = parseRoute(row.route);
    const path = place(method, template.replaceAll('*}', '}'));
    placements.set(key, {
      key,
      row,
      method: verbs[method],
      template,
      path,
      parameters: parametersOf(template, path),
    });
  }
  return rows.flatMap(([key]) => placements.get(key) ?? []);
}

function isWildcard({ route }: EndpointRow): boolean {
  return route.includes('*}');
}

function parametersOf(template: string, path: string): readonly PathParameter[] {
  const stars = [...template.matchAll(/\{\w+(\*?)\}/g)].map(([, star]) => star === '*');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return names.map((name, index) => ({
    name,
    // One name more than the template has: the wildcard has moved on to it.
    rest: names.length > stars.length ? index === names.length - 1 : stars[index] === true,
  }));
}
