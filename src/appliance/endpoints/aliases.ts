import type { EndpointRow } from './row.ts';

/** Display names of backends and interfaces (docs/api.md §6). */
export const aliasesEndpoints = {
  listBackendAliases: {
    route: 'GET /aliases/backends',
    area: 'aliases',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'list backend aliases (Enterprise)',
  },
  createBackendAlias: {
    route: 'POST /aliases/backends',
    area: 'aliases',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'name a backend address (Enterprise, newer builds)',
  },
  setBackendAlias: {
    route: 'PUT /aliases/backends/{ip}',
    area: 'aliases',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'set a backend alias (Enterprise)',
  },
  deleteBackendAlias: {
    route: 'DELETE /aliases/backends/{ip}',
    area: 'aliases',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'delete a backend alias (Enterprise)',
  },
  listInterfaceAliases: {
    route: 'GET /aliases/interfaces',
    area: 'aliases',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'list interface aliases (Enterprise)',
  },
  createInterfaceAlias: {
    route: 'POST /aliases/interfaces',
    area: 'aliases',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'name an interface (Enterprise, newer builds)',
  },
  setInterfaceAlias: {
    route: 'PUT /aliases/interfaces/{interface}',
    area: 'aliases',
    since: null,
    risk: 'reversible',
    body: 'json',
    summary: 'set an interface alias (Enterprise)',
  },
  deleteInterfaceAlias: {
    route: 'DELETE /aliases/interfaces/{interface}',
    area: 'aliases',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'delete an interface alias (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
