import { calledFarm } from './farm.ts';
import { couldMean, type Guard } from './guard.ts';

/** docs/api.md §5.1: only L4xNAT farms are known to take a second start for what it is. */
export const hardRestart: Guard = {
  name: 'hard_restart',
  effect: 'refuses',
  operations: ['actOnFarm'],
  about:
    'Starting a running HTTP farm kills it first: its connections drop, and if it cannot start again it stays down.',
  async inspect(context) {
    if (!couldMean(context, 'action', 'start')) return [];
    const farm = await calledFarm(context);
    if (!farm || farm.status === 'down' || farm.profile === 'l4xnat') return [];
    return [
      {
        severity: 'blocking',
        message: `The farm ${farm.name} is running (${farm.status || 'unknown status'}), and a start kills a running farm before it starts it again: its open connections drop, and if its address or port cannot be had then, it stays down.`,
        remedy: 'If it is to be restarted, send the action restart; if it is to run, it does.',
      },
    ];
  },
};
