import { LocalClusterNodeReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** The cluster of the Enterprise Edition (docs/api.md §3.12 and §4.7). */
export const clusterEndpoints = {
  readCluster: {
    route: 'GET /system/cluster',
    area: 'cluster',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'cluster configuration (Enterprise)',
  },
  createCluster: {
    route: 'POST /system/cluster',
    area: 'cluster',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'create the cluster (Enterprise)',
  },
  updateCluster: {
    route: 'PUT /system/cluster',
    area: 'cluster',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'modify the cluster (Enterprise)',
  },
  deleteCluster: {
    route: 'DELETE /system/cluster',
    area: 'cluster',
    since: null,
    risk: 'destructive',
    body: 'none',
    summary: 'dissolve the cluster (Enterprise)',
  },
  actOnCluster: {
    route: 'POST /system/cluster/actions',
    area: 'cluster',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'cluster maintenance enable or disable (Enterprise)',
  },
  listClusterNodes: {
    route: 'GET /system/cluster/nodes',
    area: 'cluster',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'state of the cluster nodes (Enterprise)',
  },
  readLocalClusterNode: {
    route: 'GET /system/cluster/nodes/localhost',
    area: 'cluster',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'state of this node (Enterprise)',
    reply: LocalClusterNodeReply,
  },
} as const satisfies Record<string, EndpointRow>;
