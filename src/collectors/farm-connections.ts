import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

/** The connections of a farm; undefined if the appliance does not report it. */
export interface FarmConnections {
  readonly farm: string;
  readonly established: number | undefined;
  readonly pending: number | undefined;
}

const farmRows = rowsOf((list: readonly FarmConnections[]) => list, { farm: ({ farm }) => farm });

/**
 * Connections of every farm. The list costs more than all other readings of an appliance: it
 * searches the connection table for each farm (docs/api.md §1.6). While a proxy is silent it would
 * wait for it, and nothing is read.
 */
export const farmConnectionsCollector: ApplianceWideCollector<readonly FarmConnections[]> = {
  name: 'farm_connections',
  schedule: '0 */3 * * * *',
  maxStaleMs: 600_000,
  enabled: true,
  refreshedBy: [],
  async collect({ read, facts, watches }) {
    if (facts.farms?.some(({ isSilent }) => isSilent)) return [];
    return (await read('listFarmStats', {})).farms
      .filter(({ farmname }) => watches(farmname))
      .map(({ farmname, established, pending }) => ({
        farm: farmname,
        established: established ?? undefined,
        pending: pending ?? undefined,
      }));
  },
  families: [
    farmRows.gauge(
      'zlb_farm_established_connections',
      'Connections of a farm in state established; of zproxy, its requests in progress (GET /stats/farms, established).',
      ({ established }) => established,
    ),
    farmRows.gauge(
      'zlb_farm_pending_connections',
      'Half-open connections of a farm (GET /stats/farms, pending).',
      ({ pending }) => pending,
    ),
  ],
};
