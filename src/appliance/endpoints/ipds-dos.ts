import type { EndpointRow } from './row.ts';

/** Denial-of-service rules (docs/api.md §6). */
export const ipdsDosEndpoints = {
  listDosRules: {
    route: 'GET /ipds/dos',
    area: 'ipds-dos',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'list DoS rules (Enterprise)',
  },
  createDosRule: {
    route: 'POST /ipds/dos',
    area: 'ipds-dos',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'create a DoS rule (Enterprise)',
  },
  listDosRuleKinds: {
    route: 'GET /ipds/dos/rules',
    area: 'ipds-dos',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'kinds of DoS rules (Enterprise)',
  },
  readDosRule: {
    route: 'GET /ipds/dos/{name}',
    area: 'ipds-dos',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'one DoS rule (Enterprise)',
  },
  updateDosRule: {
    route: 'PUT /ipds/dos/{name}',
    area: 'ipds-dos',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'modify a DoS rule (Enterprise)',
  },
  deleteDosRule: {
    route: 'DELETE /ipds/dos/{name}',
    area: 'ipds-dos',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'delete a DoS rule (Enterprise)',
  },
  actOnDosRule: {
    route: 'POST /ipds/dos/{name}/actions',
    area: 'ipds-dos',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'start or stop a DoS rule (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
