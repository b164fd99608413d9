import { IpdsListReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** Intrusion prevention as a whole (docs/api.md §6). */
export const ipdsEndpoints = {
  listIpds: {
    route: 'GET /ipds',
    area: 'ipds',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'list all IPDS rules with status',
    reply: IpdsListReply,
  },
  readIpdsPackage: {
    route: 'GET /ipds/package',
    area: 'ipds',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'IPDS package state (Enterprise)',
  },
  actOnIpdsPackage: {
    route: 'POST /ipds/package/actions',
    area: 'ipds',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'upgrade the IPDS package (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
