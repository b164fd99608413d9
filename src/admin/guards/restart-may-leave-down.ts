import { calledFarm } from './farm.ts';
import { couldMean, type Guard } from './guard.ts';
import { restartObstacle } from './restart-obstacle.ts';

/** docs/api.md §5.1: a restart stops the farm before it looks whether it can start it. */
export const restartMayLeaveDown: Guard = {
  name: 'restart_may_leave_down',
  effect: 'refuses or warns',
  operations: ['actOnFarm'],
  about:
    'A restart stops a running farm before it checks address and port: if its address is on no interface, the interface is down, or another farm has the port, it stays down.',
  async inspect(context) {
    const isRestart = couldMean(context, 'action', 'restart');
    if (!isRestart && !couldMean(context, 'action', 'start')) return [];
    const farm = await calledFarm(context);
    // A farm that is down already cannot be left down; L4xNAT farms accept a second start.
    if (!farm || farm.status === 'down' || (!isRestart && farm.profile === 'l4xnat')) return [];

    const obstacle = await restartObstacle(context, farm.name);
    if (obstacle !== undefined) {
      return [
        {
          severity: 'blocking',
          message: `The farm ${farm.name} would be stopped and not come back: ${obstacle}.`,
          remedy: 'Put that right first; the farm keeps running until then.',
        },
      ];
    }
    // hard_restart says what a start does.
    if (!isRestart) return [];
    const http =
      farm.profile === 'http' ? ' at once, without being drained, and for about two seconds it serves nobody' : '';
    return [
      {
        severity: 'warning',
        message: `The farm ${farm.name} is stopped and started again; its open connections drop${http}.`,
        remedy: 'Do it when few are connected, or drain what is in front of it first.',
      },
    ];
  },
};
