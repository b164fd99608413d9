import { gauge } from '../metrics/family.ts';
import type { ApplianceCollector } from './collector.ts';

const connections = gauge(
  'zlb_connections',
  'Entries of the connection table, all protocols and states, Enterprise (GET /stats/system/connections).',
);

/** The size of the connection table; one of the few reads that the appliance keeps out of its request log (WIRE.md §9). */
export const connectionTable: ApplianceCollector = {
  name: 'connections',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: true,
  optional: true,
  touchedBy: [],
  families: [connections],
  async collect({ read }) {
    const { params } = await read('readConnectionStats', {});
    return { expose: (emit) => emit.sample(connections, {}, params.connections) };
  },
};
