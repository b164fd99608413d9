import { endpoints } from '../appliance/endpoints/table.ts';

/**
 * Returns the route of every operation by its key, for the lists of operations in a configuration.
 */
export function operationRoutes(): ReadonlyMap<string, string> {
  const routes = Object.entries(endpoints).map(([key, { route }]) => [key, route] as const);
  return new Map([...routes, ...Object.entries(ownOperations)]);
}

/**
 * The gateway's own operations that `allow` and `deny` of a token may name, by key, with their
 * routes.
 */
export const ownOperations = {
  readAudit: 'GET /audit',
  freeze: 'PUT /freeze',
  unfreeze: 'DELETE /freeze',
} as const;

export type OwnOperation = keyof typeof ownOperations;
