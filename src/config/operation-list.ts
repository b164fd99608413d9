import { globPattern } from '../lib/glob.ts';

/** The operations of the API by key, each with its route as in the table: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/** The keys that one entry of `allow` or `deny` stands for: a key, a route, or a pattern with `*` over both. */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const pattern = globPattern(entry);
  return [...operations].filter(([key, route]) => pattern.test(key) || pattern.test(route)).map(([key]) => key);
}
