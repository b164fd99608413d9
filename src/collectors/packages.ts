import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface Packages {
  /** Updates that wait; undefined while the appliance has not checked. */
  readonly pending: number | undefined;
}

const packageRows = rowsOf((packages: Packages) => [packages], {});

/**
 * Pending updates. With the status unknown the appliance still prints the number 0, which says
 * nothing.
 */
export const packagesCollector: ApplianceWideCollector<Packages> = {
  name: 'packages',
  schedule: '0 */30 * * * *',
  maxStaleMs: 7_200_000,
  enabled: true,
  optional: true,
  refreshedBy: ['system'],
  async collect({ read }) {
    const { status, number } = (await read('listPackages', {})).params;
    return { pending: status === 'unknown' ? undefined : (number ?? undefined) };
  },
  families: [
    packageRows.gauge(
      'zlb_packages_pending',
      'Package updates that wait; absent while the appliance has not checked (GET /system/packages, number).',
      ({ pending }) => pending,
    ),
  ],
};
