import { FarmBackendListReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** Backends: L4xNAT and datalink farms take a change at once, HTTP farms when they restart (docs/api.md §4.2 and §5.2). */
export const farmBackendsEndpoints = {
  listFarmBackends: {
    route: 'GET /farms/{farmname}/backends',
    area: 'farm-backends',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list backends of an L4xNAT or datalink farm',
    reply: FarmBackendListReply,
  },
  addFarmBackend: {
    route: 'POST /farms/{farmname}/backends',
    area: 'farm-backends',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'add a backend to an L4xNAT or datalink farm',
  },
  // Moves live traffic to another address at once.
  updateFarmBackend: {
    route: 'PUT /farms/{farmname}/backends/{backend}',
    area: 'farm-backends',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a backend, applies at once',
  },
  deleteFarmBackend: {
    route: 'DELETE /farms/{farmname}/backends/{backend}',
    area: 'farm-backends',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a backend and flush its connections',
  },
  setFarmBackendMaintenance: {
    route: 'PUT /farms/{farmname}/backends/{backend}/maintenance',
    area: 'farm-backends',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'drain, cut or re-enable an L4xNAT backend',
  },
  listServiceBackends: {
    route: 'GET /farms/{farmname}/services/{service}/backends',
    area: 'farm-backends',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list backends of a service',
  },
  addServiceBackend: {
    route: 'POST /farms/{farmname}/services/{service}/backends',
    area: 'farm-backends',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'add a backend to a service',
  },
  updateServiceBackend: {
    route: 'PUT /farms/{farmname}/services/{service}/backends/{backend}',
    area: 'farm-backends',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'modify a backend of a service',
  },
  deleteServiceBackend: {
    route: 'DELETE /farms/{farmname}/services/{service}/backends/{backend}',
    area: 'farm-backends',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a backend of a service, renumbers the rest',
  },
  setServiceBackendMaintenance: {
    route: 'PUT /farms/{farmname}/services/{service}/backends/{backend}/maintenance',
    area: 'farm-backends',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'drain, cut or re-enable an HTTP backend',
  },
} as const satisfies Record<string, EndpointRow>;
