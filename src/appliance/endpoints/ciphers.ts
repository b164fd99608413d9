import type { EndpointRow } from './row.ts';

/** Cipher profiles (docs/api.md §3.18). */
export const ciphersEndpoints = {
  listCiphers: {
    route: 'GET /ciphers',
    area: 'ciphers',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list cipher profiles for HTTPS farms',
  },
} as const satisfies Record<string, EndpointRow>;
