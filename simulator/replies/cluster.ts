import { done, type Handlers, read } from '../call.ts';

/** The cluster of the Enterprise Edition (docs/api.md §3.12, §4.7). */
export const clusterHandlers: Handlers = {
  'GET /system/cluster': ({ world: { cluster } }) => {
    // Without a cluster there is no `params` at all.
    if (!cluster) return done('No cluster is set up.');
    return read({ ...cluster, nodes: cluster.nodes.map(({ ip, name, node }) => ({ ip, name, node })) });
  },

  'GET /system/cluster/nodes/localhost': ({ world: { cluster, hostname } }) => {
    const local = cluster?.nodes.find(({ node }) => node === 'local');
    const { role, status, message, name } = local ?? { ...unconfigured, name: hostname };
    return read({ role, status, message, name });
  },
};

const unconfigured = { role: 'not configured', status: 'not configured', message: 'No cluster is set up.' };
