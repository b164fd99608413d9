import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { certificate } from '../../simulator/world-parts.ts';
import { lifeOf } from '../../simulator/world-creation.ts';
import type { World } from '../../simulator/world.ts';
import { givenExporterOf, givenWatch } from '../support/given-watch.ts';
import { diary, type Message } from '../support/on-call.ts';
import { isThere } from '../support/programs.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));

// Four watches are twelve programs, each of which listens for the end of this process.
process.setMaxListeners(20);

/** Minutes after the incidents began. */
const restartsOfPrometheus = [1, 3, 8, 18];
const restartOfAlertmanager = 20;
const end = 27;
const over = 34;

const calls = [
  'ZlbApplianceDown lb-berlin',
  'ZlbApplianceDown west',
  'ZlbCertificateExpiryImminent lb-rome',
  'ZlbClusterTwoMasters metz',
  'ZlbFarmDown lb-kiel db',
  'ZlbFarmDown lb-kiel www',
  'ZlbFarmDown lb-madrid www',
  'ZlbFarmDown lb-paris-2 www',
];
const mails = [
  'FIRING: A backend is down. (lb-lisbon), 2 alerts in all',
  'FIRING: A cluster could not fail over, or does so again and again.',
  'FIRING: A cluster could not fail over, or does so again and again. (lb-nice-2)',
  'FIRING: A load balancer does not answer. (lb-lyon-1)',
  'FIRING: A load balancer does not answer. (lb-oslo)',
  'FIRING: A load balancer does not answer. (lb-paris-1)',
  'FIRING: A load balancer is deactivated. (lb-bonn)',
  'FIRING: Too few backends of a farm are up. (lb-lisbon), 4 alerts in all',
];

type Node = 'master' | 'backup';

// The clock is part of what is shown: nothing is shortened, and the test waits for each minute.
describe.skipIf(missing)('every incident, as the person on call gets it,', () => {
  it('causes one call and one resolution, whenever Prometheus or an Alertmanager is restarted', async ({
    annotate,
  }) => {
    const worlds = new Map([
      ...['madrid', 'lisbon', 'berlin', 'oslo', 'rome', 'kiel', 'bonn'].map(single),
      ...numbered(5, (each) => single(`west-${each}`)),
      ...numbered(8, (each) => single(`quiet-${each}`)),
      ...['paris', 'lyon', 'nice', 'metz', 'lens'].flatMap(pair),
    ]);
    const world = (name: string) => worlds.get(name) ?? expect.fail(`no appliance ${name}`);
    const file = 'www_example_com.pem';
    // Its store is read each ten minutes, and its alert waits for 15: this incident begins first.
    world('lb-rome').certificates.set(file, certificate(file, lifeOf(Date.now(), -396, 2)));
    // On the node that takes over, a farm has been stopped for weeks.
    farmOf(world('lb-paris-2'), 'www').running = false;
    const { appliances, address } = await givenExporterOf(worlds);
    const watches = await Promise.all(restartsOfPrometheus.map(() => givenWatch(address)));
    await Promise.all(watches.map(({ knowsFarms }) => knowsFarms(2 * worlds.size)));

    const beganMs = Date.now();
    const minute = (minutes: number) => delay(Math.max(0, beganMs + minutes * 60_000 - Date.now()));
    for (const place of ['berlin', ...numbered(5, (each) => `west-${each}`), 'paris-1', 'lyon-1'])
      appliances.get(`lb-${place}`)?.fail('*', { kind: 'refuse' });
    appliances.get('lb-oslo')?.fail('*', { kind: 'status', status: 401 });
    appliances.get('lb-bonn')?.fail('*', { kind: 'status', status: 402 });
    farmOf(world('lb-madrid'), 'www').running = false;
    setBackends(world('lb-lisbon'), 'down', 1);
    for (const name of ['lb-kiel', 'lb-nice-2']) setBackends(world(name), 'down');
    for (const name of ['lb-paris-2', 'lb-lyon-2', 'lb-metz-2']) setRole(world(name), 'master');
    const changingRoles = numbered(6, async (change) => {
      await minute(3 * (change - 1));
      setRole(world('lb-lens-1'), change % 2 === 0 ? 'master' : 'backup');
      setRole(world('lb-lens-2'), change % 2 === 0 ? 'backup' : 'master');
    });
    const restarts = watches.map(async ({ prometheus, alertmanagers }, index) => {
      await minute(restartsOfPrometheus[index] ?? 0);
      await prometheus.restart();
      await minute(restartOfAlertmanager);
      await alertmanagers[0]?.restart();
    });
    await Promise.all([...changingRoles, ...restarts, minute(end)]);

    for (const appliance of appliances.values()) appliance.heal();
    farmOf(world('lb-madrid'), 'www').running = true;
    for (const name of ['lb-lisbon', 'lb-kiel', 'lb-nice-2']) setBackends(world(name), 'up');
    for (const name of ['lb-paris-2', 'lb-lyon-2', 'lb-metz-2']) setRole(world(name), 'backup');
    await minute(over);

    for (const [index, { messages, hasStartDelay }] of watches.entries()) {
      await annotate(`restart after ${restartsOfPrometheus[index]} min\n${diary(messages(), beganMs)}`);
      const heard = (kind: Message['kind'], isMeanwhile = true) =>
        messages()
          .filter((each) => each.kind === kind && each.atMs < beganMs + end * 60_000 === isMeanwhile)
          .map(({ about }) => about)
          .toSorted();
      expect(heard('call')).toEqual(calls);
      expect(heard('end'), 'no false end').toEqual([]);
      expect(heard('mail')).toEqual(hasStartDelay ? mails : expect.arrayContaining(mails));
      expect(heard('call', false)).toEqual([]);
      expect(heard('end', false)).toEqual(calls.filter((call) => !/rome|metz/.test(call)));
      const texts = messages().flatMap(({ kind, text }) => (kind === 'call' ? text : []));
      expect(Math.max(...texts.map(({ length }) => length)), 'one screen').toBeLessThan(500);
    }
  }, 3_600_000);
});

function single(place: string): [string, World] {
  const [world] = healthyPair();
  world.cluster = undefined;
  return [`lb-${place}`, world];
}

function pair(place: string): [string, World][] {
  return healthyPair().map((world, index) => [`lb-${place}-${index + 1}`, world]);
}

function farmOf(world: World, name: string) {
  const farm = world.farms.get(name);
  if (farm?.profile !== 'http' && farm?.profile !== 'l4xnat') throw new Error(`the scene has lost its farm ${name}`);
  return farm;
}

/** Sets the state of the first backends of each farm, or of all. */
function setBackends(world: World, status: 'up' | 'down', count = Number.POSITIVE_INFINITY): void {
  for (const farm of world.farms.values()) {
    const owners = farm.profile === 'http' ? farm.services : farm.profile === 'l4xnat' ? [farm] : [];
    for (const { backends } of owners) for (const backend of backends.slice(0, count)) backend.status = status;
  }
}

function setRole(world: World, role: Node): void {
  const other = role === 'master' ? 'backup' : 'master';
  for (const node of world.cluster?.nodes ?? []) node.role = node.node === 'local' ? role : other;
}

/** Returns what is made of the numbers from 1 to this one. */
function numbered<Made>(count: number, make: (number: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}
