import { ServiceReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** Services of HTTP and GSLB farms (docs/api.md §3.10 and §4.2). */
export const farmServicesEndpoints = {
  createService: {
    route: 'POST /farms/{farmname}/services',
    area: 'farm-services',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'create a service in an HTTP or GSLB farm',
  },
  readService: {
    route: 'GET /farms/{farmname}/services/{service}',
    area: 'farm-services',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'one service with backends',
    reply: ServiceReply,
  },
  updateService: {
    route: 'PUT /farms/{farmname}/services/{service}',
    area: 'farm-services',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a service, a redirect deletes its backends',
  },
  deleteService: {
    route: 'DELETE /farms/{farmname}/services/{service}',
    area: 'farm-services',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a service and its backends',
  },
  moveService: {
    route: 'POST /farms/{farmname}/services/{service}/actions',
    area: 'farm-services',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'move a service in the evaluation order, restarts a running farm (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
