import { once } from 'node:events';
import { request } from 'node:https';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';

/** The key of root on the simulated appliances of these tests. */
export const simulatedKey = 'canary-key';

/**
 * The recorded appliance for an exporter with its default settings. Its L4 farms have an address for
 * documents, to which no probe connects.
 */
export function recordedWithoutProbes(): World {
  const world = recordedWorld();
  for (const farm of world.farms.values()) if (farm.profile === 'l4xnat') farm.vip = '192.0.2.22';
  return world;
}

/** Starts, stops or restarts a farm by the API of its appliance; rejects if that refuses. */
export async function actOnFarm(
  { url, certificatePem }: SimulatedAppliance,
  farm: string,
  action: 'start' | 'stop' | 'restart',
): Promise<void> {
  const sent = request(`${url}/api/v4.0/api.cgi/farms/${farm}/actions`, {
    method: 'PUT',
    ca: certificatePem,
    headers: { ZAPI_KEY: simulatedKey, 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify({ action }));
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`the ${action} of ${farm} was answered with ${response.statusCode}`);
}
