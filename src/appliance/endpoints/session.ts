import type { EndpointRow } from './row.ts';

/** Sessions of the appliance's own web interface (docs/api.md §1.2). */
export const sessionEndpoints = {
  openSession: {
    route: 'POST /session',
    area: 'session',
    since: '4.0',
    risk: 'reversible',
    body: 'none',
    summary: 'open a GUI session with HTTP Basic credentials',
  },
  closeSession: {
    route: 'DELETE /session',
    area: 'session',
    since: '4.0',
    risk: 'reversible',
    body: 'none',
    summary: 'close the GUI session of the cookie',
  },
} as const satisfies Record<string, EndpointRow>;
