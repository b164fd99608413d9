import { FarmguardianListReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** Health checks (docs/api.md §3.14 and §4.5). */
export const farmguardianEndpoints = {
  listFarmguardians: {
    route: 'GET /monitoring/fg',
    area: 'farmguardian',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list health checks and templates',
    reply: FarmguardianListReply,
  },
  createFarmguardian: {
    route: 'POST /monitoring/fg',
    area: 'farmguardian',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'create or copy a health check',
  },
  updateUnnamedFarmguardian: {
    route: 'PUT /monitoring/fg',
    area: 'farmguardian',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'listed by the version notes, no known route',
  },
  readFarmguardian: {
    route: 'GET /monitoring/fg/{name}',
    area: 'farmguardian',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'one health check',
  },
  // A running check with a wrong command takes the backends of its farms down.
  updateFarmguardian: {
    route: 'PUT /monitoring/fg/{name}',
    area: 'farmguardian',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a health check, restarts it',
  },
  deleteFarmguardian: {
    route: 'DELETE /monitoring/fg/{name}',
    area: 'farmguardian',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a health check',
  },
  readFarmguardianPath: {
    route: 'GET /monitoring/fg{suffix*}/{farmguardian}',
    area: 'farmguardian',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'wildcard as stated for health checks',
  },
  updateFarmguardianPath: {
    route: 'PUT /monitoring/fg{suffix*}/{farmguardian}',
    area: 'farmguardian',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'wildcard as stated for health checks',
  },
} as const satisfies Record<string, EndpointRow>;
