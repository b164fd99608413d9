import { globMatcher } from '../lib/glob.ts';

/** The operations of the API by key, each with its route as in the table: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/** The keys that one entry of `allow` or `deny` stands for: a key, a route, or a pattern with `*` over both. */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const fits = globMatcher(entry);
  return [...operations].filter(([key, route]) => fits(key) || fits(route)).map(([key]) => key);
}
