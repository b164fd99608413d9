import type { EndpointRow } from './row.ts';

/** The inventory in one tree (docs/api.md §3.16). */
export const idsEndpoints = {
  // The Enterprise Edition names its RBAC users here.
  listIds: {
    route: 'GET /ids',
    area: 'ids',
    since: '4.0.1',
    risk: 'secret',
    body: 'none',
    summary: 'tree of object identifiers',
  },
} as const satisfies Record<string, EndpointRow>;
