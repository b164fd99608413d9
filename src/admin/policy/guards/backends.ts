import type { EndpointKey } from '../../../appliance/api/table.ts';
import type { ReplyOf } from '../../../appliance/client.ts';
import { safeFarmName } from '../../../appliance/safe-farm-name.ts';
import { calledFarm, isKnownSilent, isMissing } from './farms.ts';
import { callParam, couldMean, type Guard, type GuardContext, type Hazard } from './guard.ts';

type ListedBackend = ReplyOf<'listFarmBackends'>['params'][number];

/** The calls that take a backend out of service by its id; maintenance also puts it back. */
const backendOperations = [
  'setFarmBackendMaintenance',
  'setServiceBackendMaintenance',
  'deleteFarmBackend',
  'deleteServiceBackend',
] as const;

/**
 * Returns the configured backends of the service in the path, or of its farm, without their health
 * (docs/api.md §3.9). Returns undefined if the appliance has no such farm or service, so that it
 * refuses the call itself.
 */
async function configuredBackends(context: GuardContext): Promise<readonly ListedBackend[] | undefined> {
  const { params, read } = context;
  const farmname = callParam(context, 'farmname');
  const { service } = params;
  try {
    if (service === undefined) return (await read('listFarmBackends', { farmname })).params;
    return (await read('readService', { farmname, service })).params.backends ?? [];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function ownerOf({ params }: GuardContext): string {
  return params.service === undefined
    ? `the farm ${params.farmname}`
    : `the service ${params.service} of ${params.farmname}`;
}

function backendText({ id, ip, port }: Pick<ListedBackend, 'id' | 'ip' | 'port'>): string {
  return `${id} (${ip}${port ? `:${port}` : ''})`;
}

/** docs/api.md §5.2. */
const maintenanceOnStoppedFarm: Guard = {
  name: 'maintenance_on_stopped_farm',
  effect: 'refuses',
  operations: ['setServiceBackendMaintenance'],
  about: 'On a stopped HTTP farm, the call crashes the newest release.',
  async inspect(context) {
    const farm = await calledFarm(context);
    if (farm?.state === 'down') {
      return {
        severity: 'blocking',
        message: `The farm ${farm.name} is stopped, and the newest release crashes when a backend of a stopped HTTP farm is put into maintenance or back.`,
        remedy: 'Start the farm first.',
      };
    }
    if (farm?.state !== 'needed_restart') return undefined;
    return {
      severity: 'blocking',
      message: `The farm ${farm.name} has changes that wait for a restart, and the appliance refuses maintenance until then.`,
      remedy: 'Restart the farm first, with the action restart.',
    };
  },
};

/** docs/api.md §5.2: the appliance's own check lets an id pass that is one too high. */
const unknownBackend: Guard = {
  name: 'unknown_backend',
  effect: 'refuses',
  operations: backendOperations,
  about: 'The appliance accepts the id of a backend that is one past the last, and does nothing.',
  async inspect(context) {
    const { farmname } = context.params;
    if (farmname !== undefined && isKnownSilent(context, farmname)) return silentFarm(farmname);
    const backends = await configuredBackends(context);
    const wanted = callParam(context, 'backend');
    if (!backends || backends.some(({ id }) => id === wanted)) return undefined;
    const known = backends.length === 0 ? 'it has none' : `those it has are ${backends.map(backendText).join(', ')}`;
    return {
      severity: 'blocking',
      message: `There is no backend ${wanted} in ${ownerOf(context)}; ${known}. The appliance may answer 200 nevertheless.`,
      remedy: 'Take the id from the list; in a service, ids move down by one when a backend before them is deleted.',
    };
  },
};

const deletions: readonly EndpointKey[] = ['deleteFarmBackend', 'deleteServiceBackend'];
/** The states in which a backend certainly gets no traffic (docs/api.md §2.2). */
const outOfService: readonly string[] = ['down', 'maintenance', 'fgdown'];

/**
 * Reads health from the statistics of an HTTP farm: other calls show the backends of a stopped farm
 * as up (docs/api.md §3.9). That of an L4 farm is in its list; its statistics may start a daemon
 * and cut all L4 farms (§1.7).
 */
const lastHealthyBackend: Guard = {
  name: 'last_healthy_backend',
  effect: 'refuses',
  operations: backendOperations,
  about: 'Without the last backend that is up, nobody serves the clients.',
  async inspect(context) {
    if (!deletions.includes(context.operationId) && !couldMean(context, 'maintenance')) return undefined;
    const farm = await calledFarm(context);
    if (!farm || farm.state === 'down') return undefined;
    // unknown_backend refuses it.
    if (isKnownSilent(context, farm.name)) return undefined;

    const { service } = context.params;
    const wanted = callParam(context, 'backend');
    const safeName = safeFarmName(farm.name, farm.profile);
    if (service !== undefined && !safeName) return farm.profile === 'l4xnat' ? undefined : unknownProfile(farm.name);
    const rows =
      service === undefined || !safeName
        ? (await context.read('listFarmBackends', { farmname: farm.name })).params
        : ((await context.read('readFarmStats', { farmname: safeName })).backends ?? []).filter(
            (row) => row.service === service,
          );
    const status = rows.find(({ id }) => id === wanted)?.status ?? '';
    const others = rows.filter(({ id }) => id !== wanted);
    if (outOfService.includes(status) || others.some((row) => row.status === 'up')) return undefined;

    const rest = others.map((row) => `${backendText(row)} is ${row.status ?? 'unknown'}`).join(', ');
    return {
      severity: 'blocking',
      message: `No backend of ${ownerOf(context)} would be up without ${wanted}: ${rest || 'the appliance lists no other'}.`,
      remedy: 'Bring another one up first.',
    };
  },
};

/** The reads of such a farm may never end. */
function silentFarm(farm: string): Hazard {
  return {
    severity: 'blocking',
    message: `The proxy of the farm ${farm} does not answer the appliance, so its backends were not read.`,
    remedy: 'Restart the farm first.',
  };
}

function unknownProfile(farm: string): Hazard {
  return {
    severity: 'blocking',
    message: `The appliance does not say which profile the farm ${farm} has, so the health of its backends was not read: that of an L4 farm may cut all L4 farms.`,
    remedy: 'Look at GET /farms/modules/summary.',
  };
}

/** docs/api.md §4.2. */
const redirectDeletesBackends: Guard = {
  name: 'redirect_deletes_backends',
  effect: 'refuses',
  operations: ['updateService'],
  about: 'A redirect deletes all backends of its service, for good.',
  async inspect(context) {
    const { redirect = null } = context.fields;
    if (redirect === null || redirect === '') return undefined;
    const backends = (await configuredBackends(context)) ?? [];
    if (backends.length === 0) return undefined;
    return {
      severity: 'blocking',
      message: `A redirect deletes all backends of ${ownerOf(context)}, ${backends.length} in number: ${backends.map(backendText).join(', ')}.`,
      remedy: 'Back up the configuration first, or give the redirect a service of its own.',
    };
  },
};

export const backendGuards: readonly Guard[] = [
  maintenanceOnStoppedFarm,
  unknownBackend,
  lastHealthyBackend,
  redirectDeletesBackends,
];
