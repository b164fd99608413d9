import { randomInt } from 'node:crypto';
import { busyWorld } from './scenes/busy.ts';
import { healthyPair } from './scenes/cluster.ts';
import { deactivatedWorld, expiringWorld } from './scenes/expiring.ts';
import { skudonetWorld, zevenetWorld } from './scenes/products.ts';
import type { Port } from './listener.ts';
import { type SimulatedAppliance, type SimulatedApplianceOptions, startSimulatedAppliance } from './server.ts';
import type { TlsMaterials } from './tls.ts';
import type { World } from './world.ts';

export interface DemonstrationOptions {
  readonly apiKey: string;
  readonly latency: NonNullable<SimulatedApplianceOptions['latency']>;
  /** Made for each appliance if absent. */
  readonly tls?: TlsMaterials;
  /** Returns the port of an appliance by its name; any free one if absent. */
  readonly portOf?: (name: string) => Port;
}

export interface DemonstrationAppliance {
  readonly name: string;
  /** The content in a few words. */
  readonly about: string;
  /** The address of this machine from which it would send its log. */
  readonly logsFrom: string;
  readonly appliance: SimulatedAppliance;
}

export interface Demonstration {
  readonly appliances: readonly DemonstrationAppliance[];
  close(): Promise<void>;
}

/** Returns the appliances of the demonstration before they start. */
export function demonstrationScenes() {
  const [first, second] = healthyPair();
  return [
    { name: 'lb-paris-1', about: 'Enterprise, master of a healthy cluster', world: first },
    { name: 'lb-paris-2', about: 'Enterprise, its backup', world: second },
    { name: 'lb-madrid', about: 'Enterprise, busy: farms in every state, a flapping backend', world: busyWorld() },
    { name: 'lb-berlin', about: 'Enterprise, certificates and the trial licence run out', world: expiringWorld() },
    { name: 'lb-lisbon', about: 'Enterprise, deactivated: the trial is over', world: deactivatedWorld() },
    { name: 'lb-porto', about: 'SKUDONET Community 7.1', world: skudonetWorld() },
    { name: 'lb-sevilla', about: 'ZEVENET Community 5.13, with zproxy', world: zevenetWorld() },
  ];
}

/**
 * Starts seven appliances: of RELIANOID a healthy pair, a busy one, one with expiring certificates,
 * one deactivated; and one of each other product.
 */
export async function startDemonstration(options: DemonstrationOptions): Promise<Demonstration> {
  const { apiKey, latency, tls, portOf = () => 0 } = options;
  // macOS has 127.0.0.1 alone: there, the others cannot send, and farms share it.
  const logsFromOf = (name: string, index: number) => (name === 'lb-madrid' ? '127.0.0.1' : `127.0.1.${index + 1}`);
  // The port of a farm that is stopped must be free when it starts: nobody else listens there.
  const ownNetwork = `127.${randomInt(2, 255)}.${randomInt(255)}`;
  const appliances = await Promise.all(
    demonstrationScenes().map(async ({ name, about, world }, index) => {
      const logsFrom = logsFromOf(name, index);
      world.moving = true;
      for (const farm of world.farms.values()) if (farm.profile === 'http') farm.settings.logs = 'true';
      return {
        name,
        about,
        logsFrom,
        appliance: await startSimulatedAppliance({
          world,
          apiKey,
          latency,
          farmsListen: process.platform === 'darwin' ? true : `${ownNetwork}.${index + 1}`,
          sendLogsFrom: logsFrom,
          port: portOf(name),
          ...(tls && { tls }),
          now: () => alive(world),
        }),
      };
    }),
  );

  return {
    appliances,
    async close() {
      await Promise.all(appliances.map(({ appliance }) => appliance.close()));
    },
  };
}

/** Returns the time. Lets one backend of the shop fail for one minute in four. */
function alive(world: World): number {
  const nowMs = Date.now();
  const shop = world.farms.get('shop');
  const backend = shop?.profile === 'http' ? shop.services[0]?.backends[2] : undefined;
  const fails = Math.floor(nowMs / 60_000) % 4 === 3;
  if (backend && backend.status !== 'maintenance' && !backend.statusAfter) backend.status = fails ? 'down' : 'up';
  return nowMs;
}
