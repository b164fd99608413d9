import { backendOperations, backendText, configuredBackends, ownerOf } from './backends.ts';
import { type Guard, callParam } from './guard.ts';

/** docs/api.md §5.2: the appliance's own check lets an id pass that is one too high. */
export const unknownBackend: Guard = {
  name: 'unknown_backend',
  effect: 'refuses',
  operations: backendOperations,
  about:
    'The appliance accepts the id of a backend that is one past the last, and answers as if it had done something.',
  async inspect(context) {
    const backends = await configuredBackends(context);
    const wanted = callParam(context, 'backend');
    if (!backends || backends.some(({ id }) => id === wanted)) return [];
    const known = backends.length === 0 ? 'it has none' : `those it has are ${backends.map(backendText).join(', ')}`;
    return [
      {
        severity: 'blocking',
        message: `There is no backend ${wanted} in ${ownerOf(context)}; ${known}. The appliance may answer 200 all the same.`,
        remedy: 'Take the id from the list; in a service, ids move down by one when a backend before them is deleted.',
      },
    ];
  },
};
