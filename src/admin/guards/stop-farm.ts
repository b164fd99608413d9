import { couldMean, type Guard, callParam } from './guard.ts';

/**
 * Looks at nothing: in an emergency a farm must be stoppable on an appliance that answers nothing
 * else.
 */
export const stopFarm: Guard = {
  name: 'stop_farm',
  effect: 'warns',
  operations: ['actOnFarm'],
  about: 'A stopped farm serves nobody, its connections end, and it stays stopped when the appliance reboots.',
  async inspect(context) {
    if (!couldMean(context, 'action', 'stop')) return [];
    return [
      {
        severity: 'warning',
        message: `The farm ${callParam(context, 'farmname')} serves nobody once it is stopped: its open connections end, and it stays stopped when the appliance reboots.`,
        remedy: 'Drain its backends first if connections are to end by themselves; the action start puts it back.',
      },
    ];
  },
};
