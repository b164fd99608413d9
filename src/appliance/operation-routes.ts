import { endpoints } from './endpoints/table.ts';

/** The route of every operation by its key, for the lists of operations in a configuration. */
export function operationRoutes(): ReadonlyMap<string, string> {
  return new Map(Object.entries(endpoints).map(([key, { route }]) => [key, route]));
}
