import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface ConnectionTable {
  /** Undefined if the appliance does not report it. */
  readonly connections: number | undefined;
}

const tableRows = rowsOf((table: ConnectionTable) => [table], {});

/**
 * The size of the connection table. The appliance keeps this read, and those of cluster nodes, out
 * of its request log.
 */
export const connectionsCollector: ApplianceWideCollector<ConnectionTable> = {
  name: 'connections',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: true,
  optional: true,
  refreshedBy: [],
  async collect({ read }) {
    return { connections: (await read('readConnectionStats', {})).params.connections ?? undefined };
  },
  families: [
    tableRows.gauge(
      'zlb_connections',
      'Entries of the connection table, all protocols and states, Enterprise (GET /stats/system/connections).',
      ({ connections }) => connections,
    ),
  ],
};
