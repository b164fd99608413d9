import { expect, it } from 'vitest';
import type { HistoryEvent } from '../../src/history/event.ts';
import { makeToken } from '../../src/commands/token.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import type { HttpFarm, L4Farm } from '../../simulator/world-farms.ts';
import { untilAllRead } from '../support/all-read.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { untilIs } from '../support/until.ts';

const people = ['alice', 'bob', 'carol'] as const;

interface Change {
  readonly by: (typeof people)[number] | 'elsewhere';
  /** `object name setting` of the difference. */
  readonly told: string;
  readonly make: () => unknown;
}

async function given() {
  const world = busyWorld();
  const tokens = people.map((name) => ({ name, token: makeToken().token, role: 'admin' as const }));
  const gateway = await givenGateway({ 'lb-1': world }, { tokens, polls: ['farms', 'farm_config', 'backends'] });
  await untilAllRead(gateway.metricsUrl);
  await untilIs(() => gateway.appliance.inFlight, 0);
  const send = async (by: string, method: string, path: string, json?: unknown): Promise<void> => {
    const answer = await gateway.call(method, `/appliances/lb-1${path}`, {
      as: tokens.find(({ name }) => name === by)?.token ?? '',
      json,
      headers: { 'x-confirm': path.split('/').at(-1) ?? '', 'x-force': 'true', 'x-reason': 'a test' },
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
  const told = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const answer = await fetch(`${gateway.metricsUrl}/api/history?kind=configuration&limit=1000`);
    const { events } = (await answer.json()) as { readonly events: readonly HistoryEvent[] };
    const rows = events.flatMap(({ by = '', differences }) =>
      differences.map(({ object, name, setting }) => ({ key: `${object} ${name} ${setting}`.trim(), by })),
    );
    return new Map([...Map.groupBy(rows, ({ key }) => key)].map(([key, all]) => [key, all.map(({ by }) => by)]));
  };
  return { world, send, told };
}

/** Returns 25 changes through the gateway and 15 beside it, each of another thing. */
function changesOf({ world, send }: Awaited<ReturnType<typeof given>>): readonly Change[] {
  const http = (name: string): HttpFarm => world.farms.get(name) as HttpFarm;
  const l4 = (name: string): L4Farm => world.farms.get(name) as L4Farm;
  const [front, api] = http('shop').services as [HttpFarm['services'][0], HttpFarm['services'][0]];
  const [main] = http('intranet').services as [HttpFarm['services'][0]];
  const person = (index: number) => people[index % people.length]!;
  const calls: readonly (readonly [method: string, path: string, body: unknown, told: string])[] = [
    ...l4('db')
      .backends.slice(0, 3)
      .map(
        ({ id, ip, port }) =>
          ['PUT', `/farms/db/backends/${id}`, { weight: 7 }, `backend ${ip}:${port} weight`] as const,
      ),
    ...[1, 2, 3, 4].map(
      (last) =>
        ['POST', '/farms/db/backends', { ip: `10.20.9.${last}`, port: 5432 }, `backend 10.20.9.${last}:5432`] as const,
    ),
    ...[5, 6].map(
      (last) =>
        [
          'POST',
          '/farms/shop/services/front/backends',
          { ip: `10.20.9.${last}`, port: 80 },
          `backend 10.20.9.${last}:80`,
        ] as const,
    ),
    ...[7, 8].map(
      (last) =>
        [
          'POST',
          '/farms/intranet/services/main/backends',
          { ip: `10.20.9.${last}`, port: 80 },
          `backend 10.20.9.${last}:80`,
        ] as const,
    ),
    ['PUT', '/farms/shop/services/front', { vhost: '^a' }, 'service front vhost'],
    ['PUT', '/farms/shop/services/front', { urlp: '^/b' }, 'service front urlp'],
    ['PUT', '/farms/shop/services/api', { vhost: '^c' }, 'service api vhost'],
    ['PUT', '/farms/shop/services/api', { httpsb: 'true' }, 'service api httpsb'],
    ['PUT', '/farms/intranet/services/main', { urlp: '^/d' }, 'service main urlp'],
    ['PUT', '/farms/intranet/services/main', { leastresp: 'true' }, 'service main leastresp'],
    ['PUT', '/farms/shop/services/front/backends/1', { weight: 3 }, `backend ${front.backends[1]!.ip}:8080 weight`],
    ['PUT', '/farms/shop/services/api/backends/0', { timeout: 9 }, `backend ${api.backends[0]!.ip}:8081 timeout`],
    ['PUT', '/monitoring/fg/db-tcp', { interval: 6 }, 'check db-tcp interval'],
    ['PUT', '/monitoring/fg/shop-http', { cut_conns: 'true' }, 'check shop-http cut_conns'],
    ['POST', '/farms', { farmname: 'new1', profile: 'http', vip: '192.0.2.40', vport: '9901' }, 'farm new1'],
    ['POST', '/farms', { farmname: 'new2', profile: 'http', vip: '192.0.2.40', vport: '9902' }, 'farm new2'],
    ['DELETE', '/farms/legacy', undefined, 'farm legacy'],
    ['POST', '/farms/shop/certificates', { file: 'intranet.pem' }, 'farm shop certificates'],
  ];
  const beside: readonly (readonly [make: () => unknown, told: string])[] = [
    [() => (front.backends[0]!.weight = 8), `backend ${front.backends[0]!.ip}:8080 weight`],
    [() => (front.backends[1]!.priority = 2), `backend ${front.backends[1]!.ip}:8080 priority`],
    [() => (front.backends[2]!.timeout = 11), `backend ${front.backends[2]!.ip}:8080 timeout`],
    [() => (api.backends[1]!.weight = 6), `backend ${api.backends[1]!.ip}:8081 weight`],
    [() => (main.backends[0]!.weight = 4), `backend ${main.backends[0]!.ip}:80 weight`],
    [() => (front.persistence = 'IP'), 'service front persistence'],
    [() => (api.urlp = '^/elsewhere'), 'service api urlp'],
    [() => (main.vhost = '^elsewhere'), 'service main vhost'],
    [() => (http('shop').settings.contimeout = 5), 'farm shop contimeout'],
    [() => (http('shop').settings.restimeout = 6), 'farm shop restimeout'],
    [() => (http('intranet').settings.reqtimeout = 7), 'farm intranet reqtimeout'],
    [() => (http('shop').settings.httpverb = 'standardHTTP'), 'farm shop httpverb'],
    [() => (http('intranet').vport = '8449'), 'farm intranet vport'],
    [() => (world.farmguardians.get('shop-http')!.log = 'true'), 'check shop-http log'],
    [() => (l4('db').backends[2]!.priority = 5), `backend ${l4('db').backends[2]!.ip}:5432 priority`],
  ];
  return [
    ...calls.map(([method, path, body, told], index) => ({
      by: person(index),
      told,
      make: () => send(person(index), method, path, body),
    })),
    ...beside.map(([make, told]) => ({ by: 'elsewhere' as const, told, make })),
  ];
}

/** Returns the same order for the same seed. */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647);
  return items
    .map((item) => ({ item, rank: next() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}

it.each([1, 2, 3])(
  'each of 40 concurrent changes, by three callers and outside the gateway, has its author (order %i)',
  async (seed) => {
    const appliance = await given();
    const changes = changesOf(appliance);
    expect(changes).toHaveLength(40);
    const order = shuffled(changes, seed * 7_919);
    for (let at = 0; at < order.length; ) {
      const together = order.slice(at, at + 1 + (at % 4));
      at += together.length;
      await Promise.all(together.map(({ make }) => make()));
    }
    for (const farm of ['shop', 'intranet', 'db'])
      await appliance.send('alice', 'PUT', `/farms/${farm}/actions`, { action: 'restart' });

    await expect
      .poll(async () => {
        const told = await appliance.told();
        return changes.filter((each) => !told.has(each.told)).map((each) => each.told);
      })
      .toEqual([]);
    const told = await appliance.told();
    const authors = changes.map(({ by, told: what }) => ({
      what,
      by,
      told: (told.get(what) ?? []).map((each) => each.replaceAll(/call \S+ by /g, '')),
    }));
    expect(authors.filter(({ by, told }) => !told.every((each) => each.split(' or ').includes(by)))).toEqual([]);
    expect(authors.filter(({ told }) => told.some((each) => each.includes(' or '))).length).toBeLessThan(10);
  },
);
