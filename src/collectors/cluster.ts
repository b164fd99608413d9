import { stateSet } from '../metrics/family.ts';
import { type ApplianceCollector, stateWord } from './collector.ts';

const states = ['ok', 'failure', 'unreachable', 'error', 'not_configured', 'unknown'] as const;
const status = stateSet(
  'zlb_cluster_node_status',
  'State of this node of a cluster and the role it says it has (GET /system/cluster/nodes/localhost).',
  ['node', 'role'],
  states,
);

/** This node only: asking for all nodes runs commands on the peer and is slowest when the peer is dead (WIRE.md §3.12). */
export const cluster: ApplianceCollector = {
  name: 'cluster',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: true,
  optional: true,
  touchedBy: ['cluster'],
  families: [status],
  async collect({ read }) {
    const node = (await read('readLocalClusterNode', {})).params;
    return {
      expose: (emit) =>
        emit.state(status, { node: node.name ?? '', role: stateWord(node.role) }, stateWord(node.status)),
    };
  },
};
