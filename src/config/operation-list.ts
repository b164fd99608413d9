import { globMatcher } from '../lib/glob.ts';

/** The operations of the API by key, with their routes: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/**
 * Returns the keys that an entry of `allow` or `deny` matches: a key, a route, or a pattern with
 * `*` over both.
 */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const fits = globMatcher(entry);
  return [...operations].filter(([key, route]) => fits(key) || fits(route)).map(([key]) => key);
}
