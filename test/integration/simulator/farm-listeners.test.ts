import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { actOnFarm, simulatedKey } from '../../support/simulated-farms.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { healthyPair } from '../../../simulator/scenes/cluster.ts';
import { startSimulatedAppliance, type SimulatedAppliance } from '../../../simulator/server.ts';
import { certificate } from '../../../simulator/world-parts.ts';
import type { World } from '../../../simulator/world.ts';

const dayMs = 86_400_000;

async function givenListening(world: World): Promise<SimulatedAppliance> {
  const appliance = await startSimulatedAppliance({ world, apiKey: simulatedKey, farmsListen: true });
  onTestFinished(() => appliance.close());
  return appliance;
}

function portOf({ farms }: SimulatedAppliance, address: string): number {
  return Number(farms?.addresses[address]?.split(':')[1]);
}

/** The name and the end of the certificate that a farm serves, in Unix milliseconds. */
async function served(port: number, servername = 'any.test'): Promise<readonly [string, number]> {
  const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject = '', validTo = '' } = socket.getPeerX509Certificate() ?? {};
  socket.destroy();
  return [subject, Date.parse(validTo)];
}

async function isListening(port: number): Promise<boolean> {
  const socket = connectTcp({ port, host: '127.0.0.1' });
  return await once(socket, 'connect').then(
    () => Boolean(socket.destroy()),
    () => false,
  );
}

it('serves the certificate that a farm had at its start, until it is restarted', async () => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const [world] = healthyPair(nowMs);
  const appliance = await givenListening(world);
  const port = portOf(appliance, '192.0.2.20:443');
  const before = await served(port);

  const times = { notBefore: nowMs, notAfter: nowMs + 90 * dayMs };
  world.certificates.set('www_example_com.pem', certificate('www_example_com.pem', times));
  const replaced = await served(port);
  await actOnFarm(appliance, 'www', 'restart');

  expect(before).toEqual(['CN=www.example.com', nowMs + 368 * dayMs]);
  expect(replaced).toEqual(before);
  expect(await served(port)).toEqual(['CN=www.example.com', times.notAfter]);
});

it('has a farm that hangs until it is restarted, and not until the next call', async () => {
  const appliance = await givenListening(healthyPair()[0]);
  const port = portOf(appliance, '192.0.2.20:443');

  await appliance.farms?.hang('www');
  await appliance.farms?.follow();
  const hanging = await isListening(port);
  await actOnFarm(appliance, 'www', 'restart');

  expect([hanging, await isListening(port)]).toEqual([false, true]);
});

it('has farms that listen while they run, on the same port again', async () => {
  const appliance = await givenListening(healthyPair()[0]);
  const port = portOf(appliance, '192.0.2.20:5432');

  const first = await isListening(port);
  await actOnFarm(appliance, 'db', 'stop');
  const stopped = await isListening(port);
  await actOnFarm(appliance, 'db', 'start');

  expect([first, stopped, await isListening(port)]).toEqual([true, false, true]);
});

it('listens for running TCP farms alone', async () => {
  const { farms } = await givenListening(busyWorld());

  expect(Object.keys(farms?.addresses ?? {}).toSorted()).toEqual(
    ['443', '8443', '8081', '8083', '80', '5432'].map((port) => `192.0.2.40:${port}`).toSorted(),
  );
});

it('serves an older certificate on the backup of a pair, and on a farm that was not restarted', async () => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const [master, backup] = healthyPair(nowMs);
  const [first, second, busy] = [
    await givenListening(master),
    await givenListening(backup),
    await givenListening(busyWorld(nowMs)),
  ];

  const ends = await Promise.all([
    served(portOf(first, '192.0.2.20:443')),
    served(portOf(second, '192.0.2.20:443')),
    served(portOf(busy, '192.0.2.40:443')),
  ]);

  expect(ends.map(([, endMs]) => (endMs - nowMs) / dayMs)).toEqual([368, 138, 35]);
  expect(busy.world.certificates.get('shop_example_com.pem')?.notAfter).toBe(nowMs + 265 * dayMs);
});
