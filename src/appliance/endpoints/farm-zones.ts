import type { EndpointRow } from './row.ts';

/** DNS zones of GSLB farms (docs/api.md §3.9 and §6). */
export const farmZonesEndpoints = {
  createZone: {
    route: 'POST /farms/{farmname}/zones',
    area: 'farm-zones',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'create a GSLB zone (Enterprise)',
  },
  // Changes what clients are told at once.
  updateZone: {
    route: 'PUT /farms/{farmname}/zones/{zone}',
    area: 'farm-zones',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a GSLB zone (Enterprise)',
  },
  deleteZone: {
    route: 'DELETE /farms/{farmname}/zones/{zone}',
    area: 'farm-zones',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'delete a GSLB zone (Enterprise)',
  },
  listZoneResources: {
    route: 'GET /farms/{farmname}/zones/{zone}/resources',
    area: 'farm-zones',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'list resources of a GSLB zone (Enterprise)',
  },
  addZoneResource: {
    route: 'POST /farms/{farmname}/zones/{zone}/resources',
    area: 'farm-zones',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'add a GSLB zone resource (Enterprise)',
  },
  updateZoneResource: {
    route: 'PUT /farms/{farmname}/zones/{zone}/resources/{resource}',
    area: 'farm-zones',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a GSLB zone resource (Enterprise)',
  },
  deleteZoneResource: {
    route: 'DELETE /farms/{farmname}/zones/{zone}/resources/{resource}',
    area: 'farm-zones',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'delete a GSLB zone resource (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
