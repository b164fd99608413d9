import type { EndpointRow } from './row.ts';

/** The user behind the key of the call (docs/api.md §4.7). */
export const systemUsersEndpoints = {
  readCallingUser: {
    route: 'GET /system/users',
    area: 'system-users',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'settings of the calling user',
  },
  updateCallingUser: {
    route: 'POST /system/users',
    area: 'system-users',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'change own password, API key or API permission',
  },
} as const satisfies Record<string, EndpointRow>;
