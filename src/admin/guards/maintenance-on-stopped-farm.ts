import { calledFarm } from './farm.ts';
import { type Guard } from './guard.ts';

/** docs/api.md §5.2. */
export const maintenanceOnStoppedFarm: Guard = {
  name: 'maintenance_on_stopped_farm',
  effect: 'refuses',
  operations: ['setServiceBackendMaintenance'],
  about:
    'On a stopped HTTP farm the maintenance call crashes the newest release; before a pending restart it is refused.',
  async inspect(context) {
    const farm = await calledFarm(context);
    if (farm?.status === 'down') {
      return [
        {
          severity: 'blocking',
          message: `The farm ${farm.name} is stopped, and the newest release crashes when a backend of a stopped HTTP farm is put into maintenance or back.`,
          remedy: 'Start the farm first.',
        },
      ];
    }
    if (farm?.status !== 'needed restart') return [];
    return [
      {
        severity: 'blocking',
        message: `The farm ${farm.name} has changes that wait for a restart, and the appliance refuses maintenance until then.`,
        remedy: 'Restart the farm first, with the action restart.',
      },
    ];
  },
};
