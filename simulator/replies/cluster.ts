import { type Call, done, type Handlers, read, refuse } from '../call.ts';
import { anyText, checkParameters, ipv4, natural, required, setNumbers, setTexts, text } from '../parameters.ts';
import type { Cluster, ClusterNode } from '../world.ts';

/** The cluster of the Enterprise Edition (docs/api.md §3.12, §4.7). */
export const clusterHandlers: Handlers = {
  'GET /system/cluster': ({ world: { cluster } }) => {
    // Without a cluster there is no `params` at all.
    if (!cluster) return done('No cluster is set up.');
    return read({ ...cluster, nodes: cluster.nodes.map(({ ip, name, node }) => ({ ip, name, node })) });
  },

  'GET /system/cluster/nodes': ({ world: { cluster, hostname } }) =>
    read(
      cluster ? [...cluster.nodes].sort((a, b) => (a.name < b.name ? -1 : 1)) : [{ ...unconfigured, name: hostname }],
    ),

  'GET /system/cluster/nodes/localhost': ({ world: { cluster, hostname } }) => {
    const { role, status, message, name } = (cluster && localNode(cluster)) ?? { ...unconfigured, name: hostname };
    return read({ role, status, message, name });
  },

  'POST /system/cluster': (call) => {
    const input = checkParameters(call, {
      local_ip: required(ipv4),
      remote_ip: required(ipv4),
      remote_password: required(anyText),
    });
    if (call.world.cluster) return refuse(400, 'There is one.');
    const node = (name: string, ip: string, where: 'local' | 'remote'): ClusterNode => ({
      name,
      ip,
      node: where,
      role: where === 'local' ? 'master' : 'backup',
      status: 'ok',
      message: 'This node does its part.',
    });
    call.world.cluster = {
      interface: 'eth0',
      check_interval: 1,
      failback: 'disabled',
      nodes: [
        node(call.world.hostname, text(input, 'local_ip'), 'local'),
        node('peer', text(input, 'remote_ip'), 'remote'),
      ],
    };
    return done('The cluster is set up.');
  },

  'PUT /system/cluster': (call) => {
    const cluster = configured(call);
    const input = checkParameters(call, {
      check_interval: natural,
      failback: { nonBlank: true },
      track_interface: anyText,
    });
    setNumbers(cluster, input, ['check_interval']);
    setTexts(cluster, input, ['failback']);
    const { check_interval, failback } = cluster;
    return done('The cluster is changed.', { params: { check_interval, failback } });
  },

  'DELETE /system/cluster': (call) => {
    configured(call);
    call.world.cluster = undefined;
    return done('The cluster is no more.');
  },

  'POST /system/cluster/actions': (call) => {
    const cluster = configured(call);
    const input = checkParameters(call, {
      action: required({ values: ['maintenance'] }),
      status: required({ values: ['enable', 'disable'] }),
    });
    const local = localNode(cluster);
    const enable = text(input, 'status') === 'enable';
    if (enable === (local?.role === 'maintenance')) return refuse(400, 'It is so already.');
    if (local) local.role = enable ? 'maintenance' : 'backup';
    // The peer takes over as master.
    for (const node of cluster.nodes) if (node.node === 'remote' && enable) node.role = 'master';
    return done('The node has changed.', { params: input });
  },
};

const unconfigured = { role: 'not configured', status: 'not configured', message: 'No cluster is set up.' };

function configured(call: Call): Cluster {
  return call.world.cluster ?? refuse(400, 'No cluster is set up.');
}

function localNode(cluster: Cluster): ClusterNode | undefined {
  return cluster.nodes.find(({ node }) => node === 'local');
}
