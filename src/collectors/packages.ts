import { gauge } from '../metrics/family.ts';
import type { ApplianceCollector } from './collector.ts';

const pending = gauge(
  'zlb_packages_pending',
  'Package updates that wait; absent while the appliance has not checked (GET /system/packages, number).',
);

/** Pending updates. With the status unknown the appliance still prints the number 0, which says nothing. */
export const packages: ApplianceCollector = {
  name: 'packages',
  schedule: '0 */30 * * * *',
  maxStaleMs: 7_200_000,
  enabled: true,
  optional: true,
  touchedBy: ['system'],
  families: [pending],
  async collect({ read }) {
    const { status, number } = (await read('listPackages', {})).params;
    return { expose: (emit) => emit.sample(pending, {}, status === 'unknown' ? null : number) };
  },
};
