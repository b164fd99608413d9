import { expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { startDemonstration } from '../../../simulator/demo.ts';
import { givenSimulated } from '../../support/simulated.ts';

interface Network {
  readonly params: {
    readonly interfaces: readonly { readonly interface: string; readonly in: string; readonly out: string }[];
  };
}

it('counts traffic upwards with the clock, and from zero again after a reboot', async () => {
  const world = busyWorld();
  world.moving = true;
  let nowMs = Date.parse('2026-11-20T21:00:00Z');
  const { call } = await givenSimulated(world, { now: () => nowMs });
  const received = async () =>
    Number(((await call('GET', '/stats/system/network')).json as Network).params.interfaces[0]?.in);

  const readings: number[] = [];
  for (let step = 0; step < 40; step += 1) {
    readings.push(await received());
    nowMs += 17_000;
  }
  const grows = readings.every((reading, index) => index === 0 || reading > (readings[index - 1] ?? 0));
  world.reboot();
  const after = await received();
  nowMs += 60_000;

  expect(grows).toBe(true);
  expect(after).toBe(0);
  expect(await received()).toBeGreaterThan(0);
});

it('says the same about traffic in both places, in MiB with two decimals', async () => {
  const nowMs = Date.parse('2026-11-20T21:00:00Z');
  const { call } = await givenSimulated(recordedWorld(), { now: () => nowMs });

  expect((await call('GET', '/stats/system/network')).json).toMatchObject({
    params: {
      interfaces: [
        { interface: 'eth0', in: '0.24', out: '0.20' },
        { interface: 'eth1', in: '0.13', out: '0.18' },
      ],
    },
  });
  expect((await call('GET', '/stats')).json).toMatchObject({
    params: { network: { 'eth0 in in': 0.24, 'eth0 out out': 0.2 } },
  });
});

it('lets connections wander with the clock in a moving world, and keeps those of a still one', async () => {
  const moving = busyWorld();
  moving.moving = true;
  let nowMs = Date.parse('2026-11-20T21:00:00Z');
  const [one, other] = [
    await givenSimulated(moving, { now: () => nowMs }),
    await givenSimulated(recordedWorld(), { now: () => nowMs }),
  ];
  const established = async ({ call }: typeof one, farm: string) =>
    ((await call('GET', '/stats/farms')).json as { farms: { farmname: string; established: number }[] }).farms.find(
      ({ farmname }) => farmname === farm,
    )?.established;

  const before = [await established(one, 'shop'), await established(other, 'webshop')];
  nowMs += 60_000;
  const after = [await established(one, 'shop'), await established(other, 'webshop')];

  expect(after[0]).not.toBe(before[0]);
  expect([before[1], after[1]]).toEqual([3, 3]);
});

it('lets the connections of a backend in maintenance end within half a minute in a moving world, and only there', async () => {
  const [moving, still] = [busyWorld(), busyWorld()];
  moving.moving = true;
  let nowMs = Date.parse('2026-11-20T21:00:00Z');
  const appliances = [
    await givenSimulated(moving, { now: () => nowMs }),
    await givenSimulated(still, { now: () => nowMs }),
  ];
  const drained = async () =>
    await Promise.all(
      appliances.map(async ({ call }) => {
        const { backends } = (await call('GET', '/stats/farms/db')).json as { backends: { established: number }[] };
        return backends[0]?.established ?? 0;
      }),
    );

  for (const { call } of appliances)
    await call('PUT', '/farms/db/backends/0/maintenance', { json: { action: 'maintenance', mode: 'drain' } });
  const before = await drained();
  nowMs += 12_000;
  const meanwhile = await drained();
  nowMs += 13_000;
  const after = await drained();
  for (const { call } of appliances) await call('PUT', '/farms/db/backends/0/maintenance', { json: { action: 'up' } });
  const restored = await drained();

  expect(before[0]).toBeGreaterThan(0);
  expect(meanwhile[0]).toBeGreaterThan(0);
  expect(meanwhile[0]).toBeLessThan(before[0] ?? 0);
  expect(after[0]).toBe(0);
  expect(restored[0]).toBeGreaterThan(0);
  expect([before[1], meanwhile[1], after[1], restored[1]]).toEqual([33, 33, 33, 33]);
});

it('demonstrates five appliances, one of them deactivated', async () => {
  const demonstration = await startDemonstration({ apiKey: 'demo', latency: 'none' });
  onTestFinished(() => demonstration.close());

  expect(demonstration.appliances.map(({ name }) => name)).toEqual([
    'lb-paris-1',
    'lb-paris-2',
    'lb-madrid',
    'lb-berlin',
    'lb-lisbon',
  ]);
  expect(new Set(demonstration.appliances.map(({ appliance }) => appliance.fingerprintSha256)).size).toBe(5);
});
