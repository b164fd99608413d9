import { endpoints } from '../appliance/endpoints/table.ts';
import { ownOperations } from './own-operations.ts';

/** Returns the route of every operation by its key, for the lists of operations in a configuration. */
export function operationRoutes(): ReadonlyMap<string, string> {
  const routes = Object.entries(endpoints).map(([key, { route }]) => [key, route] as const);
  return new Map([...routes, ...Object.entries(ownOperations)]);
}
