import { calledFarm } from './farm.ts';
import type { Guard } from './guard.ts';

/** docs/api.md §4.2 and §8, 35. */
export const movesRestartFarm: Guard = {
  name: 'moves_restart_farm',
  effect: 'refuses',
  operations: ['moveService'],
  about: 'Moving a service stops and starts a running farm within the call; a failed start leaves it down.',
  async inspect(context) {
    const farm = await calledFarm(context);
    if (!farm || farm.status === 'down') return [];
    return [
      {
        severity: 'blocking',
        message: `To move a service the appliance stops the running farm ${farm.name} and starts it again: its open connections drop, and if the start fails it stays down.`,
        remedy: 'Do it when few are connected; a dry run of the action restart tells whether it would come back.',
      },
    ];
  },
};
