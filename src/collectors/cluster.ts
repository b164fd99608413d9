import { stateWord } from '../lib/states.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

interface LocalNode {
  readonly node: string;
  readonly role: string;
  readonly state: string;
}

const states = ['ok', 'failure', 'unreachable', 'error', 'not_configured', 'unknown'] as const;
const nodeRows = rowsOf((node: LocalNode) => [node], { node: ({ node }) => node, role: ({ role }) => role });

/**
 * This node only: asking for all nodes runs commands on the peer and is slowest when the peer is
 * dead (docs/api.md §3.12).
 */
export const clusterCollector: ApplianceWideCollector<LocalNode> = {
  name: 'cluster',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  optional: true,
  refreshedBy: ['cluster'],
  async collect({ read }) {
    const { name, role, status } = (await read('readLocalClusterNode', {})).params;
    return { node: name ?? '', role: stateWord(role), state: stateWord(status) };
  },
  families: [
    nodeRows.stateSet(
      'zlb_cluster_node_status',
      'State of this node of a cluster and the role it says it has (GET /system/cluster/nodes/localhost).',
      states,
      ({ state }) => state,
    ),
  ],
};
