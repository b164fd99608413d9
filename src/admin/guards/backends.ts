import type { ReplyOf } from '../../appliance/client.ts';
import { isMissing } from './farm.ts';
import { type GuardContext, callParam } from './guard.ts';

type ConfiguredBackend = ReplyOf<'listFarmBackends'>['params'][number];

/** The calls that take a backend out of service by its id; maintenance also puts it back. */
export const backendOperations = [
  'setFarmBackendMaintenance',
  'setServiceBackendMaintenance',
  'deleteFarmBackend',
  'deleteServiceBackend',
] as const;

/**
 * The backends of the service in the path, or of its farm, as configured; nothing of their health
 * (docs/api.md §8, 10). Undefined when the appliance has no such farm or service, so that it
 * refuses the call itself.
 */
export async function configuredBackends(context: GuardContext): Promise<readonly ConfiguredBackend[] | undefined> {
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

/** Returns what the backends belong to, for messages. */
export function ownerOf({ params }: GuardContext): string {
  return params.service === undefined
    ? `the farm ${params.farmname}`
    : `the service ${params.service} of ${params.farmname}`;
}

/** Returns a backend for messages. */
export function backendText({ id, ip, port }: Pick<ConfiguredBackend, 'id' | 'ip' | 'port'>): string {
  return `${id} (${ip}${port ? `:${port}` : ''})`;
}
