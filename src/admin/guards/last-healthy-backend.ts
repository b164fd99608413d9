import type { EndpointKey } from '../../appliance/endpoints/table.ts';
import { backendOperations, backendText, ownerOf } from './backends.ts';
import { calledFarm } from './farm.ts';
import { couldMean, type Guard, callParam } from './guard.ts';

const deletions: readonly EndpointKey[] = ['deleteFarmBackend', 'deleteServiceBackend'];
/** The states in which a backend certainly gets no traffic (docs/api.md §2.2). */
const outOfService: readonly string[] = ['down', 'maintenance', 'fgDOWN'];

/**
 * Reads health from the statistics: other calls show the backends of a stopped farm as up
 * (docs/api.md §8, 10).
 */
export const lastHealthyBackend: Guard = {
  name: 'last_healthy_backend',
  effect: 'refuses',
  operations: backendOperations,
  about:
    'Taking the last backend that is up out of a service, or out of an L4xNAT farm, leaves nobody to serve its clients.',
  async inspect(context) {
    if (!deletions.includes(context.operation) && !couldMean(context, 'action', 'maintenance')) return [];
    const farm = await calledFarm(context);
    if (!farm || farm.status === 'down') return [];

    const { service } = context.params;
    const wanted = callParam(context, 'backend');
    const { backends } = await context.read('readFarmStats', { farmname: farm.name });
    const rows = (backends ?? []).filter((row) => service === undefined || row.service === service);
    const status = rows.find(({ id }) => id === wanted)?.status ?? '';
    const others = rows.filter(({ id }) => id !== wanted);
    if (outOfService.includes(status) || others.some((row) => row.status === 'up')) return [];

    const rest = others.map((row) => `${backendText(row)} is ${row.status ?? 'unknown'}`).join(', ');
    return [
      {
        severity: 'blocking',
        message: `No backend of ${ownerOf(context)} would be up without ${wanted}: ${rest || 'the statistics list no other'}.`,
        remedy: 'Bring another one up first.',
      },
    ];
  },
};
