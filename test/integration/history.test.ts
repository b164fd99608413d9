import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../src/history/event.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import type { HttpFarm, L4Farm } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';
import { untilAllRead } from '../support/all-read.ts';
import { givenApprovedBackend } from './changes/given-approvals.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { untilIs } from '../support/until.ts';

const polls = ['farms', 'farm_config', 'backends', 'certificates', 'interfaces', 'appliance'];

/** An appliance that was read once, with the gateway to it. */
async function given(world: World = busyWorld()) {
  const gateway = await givenGateway({ 'lb-1': world }, { polls });
  await untilAllRead(gateway.metricsUrl);
  await untilIs(() => gateway.appliance.inFlight, 0);
  const events = async (query = 'kind=configuration&limit=1000'): Promise<readonly HistoryEvent[]> => {
    const answer = await fetch(`${gateway.metricsUrl}/api/history?${query}`);
    return ((await answer.json()) as { readonly events: readonly HistoryEvent[] }).events;
  };
  return {
    ...gateway,
    events,
    /** Sends a call through the gateway, which has the farms it names read again. */
    async send(method: string, path: string, json?: unknown) {
      const answer = await gateway.call(method, `/appliances/lb-1${path}`, {
        json,
        headers: { 'x-confirm': path.split('/').at(-1) ?? '', 'x-force': 'true', 'x-reason': 'a test' },
      });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    },
    /** Each difference as `object name setting: before -> after by author`, the oldest first. */
    async told(query?: string) {
      return (await events(query))
        .toReversed()
        .flatMap(({ differences, by = '' }) =>
          differences.map(({ object, name, setting, before = '', after = '' }) =>
            [`${object} ${name} ${setting}: ${before} -> ${after}`, by.replace(/ [\w-]+ by/, ' by')].join(' | '),
          ),
        );
    },
    httpFarm: (name: string) => world.farms.get(name) as HttpFarm,
    l4Farm: (name: string) => world.farms.get(name) as L4Farm,
  };
}

describe('the history of an appliance', () => {
  it('lists each change outside and through the gateway once, with its author', async () => {
    const { send, httpFarm, l4Farm, told, events } = await given();
    const shop = httpFarm('shop');
    const [front] = shop.services;
    const [first, second, third] = front!.backends;
    const beside: readonly (readonly [change: () => void, told: string])[] = [
      [() => (first!.weight = 9), 'backend 10.20.0.11:8080 weight: 5 -> 9'],
      [() => (second!.priority = 2), 'backend 10.20.0.12:8080 priority: 1 -> 2'],
      [() => (third!.timeout = 7), 'backend 10.20.0.13:8080 timeout:  -> 7'],
      [() => (third!.port = 8099), 'backend 10.20.0.13:8080 name: 10.20.0.13:8080 -> 10.20.0.13:8099'],
      [() => (front!.persistence = 'IP'), 'service front persistence: COOKIE -> IP'],
      [() => (front!.ttl = 33), 'service front ttl: 120 -> 33'],
      [() => (front!.vhost = '^shop'), 'service front vhost:  -> ^shop'],
      [() => (front!.urlp = '^/a'), 'service front urlp:  -> ^/a'],
      [() => (front!.farmguardian = ''), 'service front farmguardian: shop-http -> '],
      [() => (shop.settings.contimeout = 5), 'farm shop contimeout: 20 -> 5'],
      [() => (shop.settings.restimeout = 6), 'farm shop restimeout: 45 -> 6'],
      [() => (shop.settings.reqtimeout = 7), 'farm shop reqtimeout: 30 -> 7'],
      [() => (shop.settings.resurrectime = 8), 'farm shop resurrectime: 21 -> 8'],
      [() => (shop.vport = '8444'), 'farm shop vport: 443 -> 8444'],
      [() => (shop.certificates = ['intranet.pem']), 'farm shop certificates: shop_example_com.pem -> intranet.pem'],
      [() => (shop.settings.httpverb = 'standardHTTP'), 'farm shop httpverb: MSRPCext -> standardHTTP'],
      [() => (shop.settings.ciphers = 'highsecurity'), 'farm shop ciphers: all -> highsecurity'],
      [() => (shop.settings.rewritelocation = 'disabled'), 'farm shop rewritelocation: enabled -> disabled'],
      [() => (shop.settings.error503 = 'Later.'), 'farm shop error503: '],
      [() => (shop.settings.disable_tlsv1 = 'true'), 'farm shop disable_tlsv1: false -> true'],
    ];
    for (const [index, [change]] of beside.entries()) {
      change();
      // Restarting changes no setting, so it is not the author of what is found then.
      await send('PUT', '/farms/shop/actions', { action: 'restart' });
      await expect.poll(async () => (await told()).length).toBe(index + 1);
    }
    const seen = await told();
    for (const [index, [, expected]] of beside.entries()) {
      expect(seen[index]).toContain(expected);
      expect(seen[index]).toMatch(/\| elsewhere$/);
    }

    expect((await events('kind=change&limit=1'))[0]?.text).toBe('start, stop or restart a farm (restart): HTTP 200');
    const db = '/farms/db/backends';
    const [intranet] = httpFarm('intranet').services[0]!.backends;
    const ids = l4Farm('db').backends.map(({ id }) => id);
    const through: readonly (readonly [method: string, path: string, body: unknown, told: string])[] = [
      ...ids.slice(0, 2).flatMap((id) => {
        const { ip, port } = l4Farm('db').backends.find((each) => each.id === id)!;
        const name = `${ip}:${port}`;
        return (['weight', 'priority', 'max_conns'] as const).map(
          (setting, index) => ['PUT', `${db}/${id}`, { [setting]: 7 - index }, `backend ${name} ${setting}: `] as const,
        );
      }),
      ...[1, 2, 3].map(
        (last) => ['POST', db, { ip: `10.20.9.${last}`, port: 5432 }, `backend 10.20.9.${last}:5432 : `] as const,
      ),
      ...['IP', 'NONE', 'URL'].map(
        (word) =>
          ['PUT', '/farms/intranet/services/main', { persistence: word }, `service main persistence: `] as const,
      ),
      ['PUT', '/farms/intranet/services/main', { vhost: '^a' }, 'service main vhost:  -> ^a'],
      ['PUT', '/farms/intranet/services/main', { urlp: '^/b' }, 'service main urlp:  -> ^/b'],
      ['PUT', '/farms/intranet/services/main', { leastresp: 'true' }, 'service main leastresp: false -> true'],
      ['PUT', '/farms/intranet/services/main', { httpsb: 'true' }, 'service main httpsb: false -> true'],
      [
        'PUT',
        '/farms/intranet/services/main/backends/0',
        { weight: 4 },
        `backend ${intranet!.ip}:${intranet!.port} weight:  -> 4`,
      ],
      ['POST', '/farms/intranet/services/main/backends', { ip: '10.20.9.9', port: 80 }, 'backend 10.20.9.9:80 : '],
      ['POST', '/farms', { farmname: 'new', profile: 'http', vip: '192.0.2.40', vport: '9999' }, 'farm new : '],
      ['DELETE', '/farms/new', undefined, 'farm new : '],
    ];
    for (const [index, [method, path, body]] of through.entries()) {
      await send(method, path, body);
      await expect.poll(async () => (await told()).length).toBe(beside.length + index + 1);
    }
    const after = (await told()).slice(beside.length);
    expect(through).toHaveLength(20);
    for (const [index, [, , , expected]] of through.entries()) {
      expect(after[index]).toContain(expected);
      expect(after[index]).toMatch(/\| call by admin$/);
    }
  });

  it('does not attribute to a caller what another person changed in the same minute', async () => {
    const { send, l4Farm, told } = await given();
    const [mine, other] = l4Farm('db').backends;
    other!.weight = 8;

    await send('PUT', `/farms/db/backends/${mine!.id}`, { weight: 9 });

    await expect.poll(async () => (await told()).length).toBe(2);
    const both = await told();
    expect(both).toContainEqual(expect.stringMatching(`${mine!.ip}.* weight: . -> 9 \\| call by admin`));
    expect(both).toContainEqual(expect.stringMatching(`${other!.ip}.* weight: . -> 8 \\| elsewhere`));
  });

  it('names the requester and the approver of a change', async () => {
    const { id, metricsUrl } = await givenApprovedBackend(polls);

    const events = async (kind: string) => await (await fetch(`${metricsUrl}/api/history?farm=db&kind=${kind}`)).json();
    await expect
      .poll(() => events('configuration'))
      .toMatchObject({
        events: [
          { by: `change ${id} by alice, approved by bob`, differences: [{ name: '10.20.9.9:5432', setting: '' }] },
        ],
      });
    expect(await events('change')).toMatchObject({
      events: [{ by: `change ${id} by alice, approved by bob`, text: expect.stringContaining('HTTP 201') }],
    });
  });

  it('records a renamed farm as one event, and nothing of its services', async () => {
    const world = busyWorld();
    const { send, told } = await given(world);
    const shop = world.farms.get('shop')!;
    world.farms.delete('shop');
    world.farms.set('store', { ...shop, name: 'store' });

    await send('PUT', '/farms/intranet/actions', { action: 'restart' });

    await expect.poll(() => told()).toEqual(['farm shop name: shop -> store | elsewhere']);
    (shop as HttpFarm).services[0]!.ttl = 77;
    await send('PUT', '/farms/store/actions', { action: 'restart' });
    await expect.poll(async () => (await told()).at(-1)).toBe('service front ttl: 120 -> 77 | elsewhere');
  });

  it('counts changes by author, and shows when a farm last changed until it is deleted', async () => {
    const { send, httpFarm, metrics, told } = await given();
    await send('PUT', '/farms/intranet/services/main', { vhost: '^a' });
    await expect.poll(async () => (await told()).length).toBe(1);
    httpFarm('intranet').settings.contimeout = 5;
    await send('PUT', '/farms/intranet/actions', { action: 'restart' });
    await expect.poll(async () => (await told()).length).toBe(2);
    const page = await metrics();
    await send('DELETE', '/farms/intranet');
    await expect.poll(async () => (await told()).length).toBe(3);

    expect(page).toMatch(/changes_total\{.*object="service",by="gateway"\} 1$/m);
    expect(page).toMatch(/changes_total\{.*object="farm",by="elsewhere"\} 1$/m);
    expect(page).toMatch(/changed_timestamp_seconds\{.*farm="intranet"\}/);
    expect(await metrics()).not.toMatch(/changed_timestamp_seconds\{.*farm="intranet"\}/);
  });

  it('records no event for a failed reading, a missing field, or a key that lost its permission', async () => {
    const { send, appliance, told } = await given();
    const restart = () => send('PUT', '/farms/shop/actions', { action: 'restart' });
    for (const fault of [{ kind: 'status', status: 500 }, { kind: 'status', status: 403 }, { kind: 'cut' }] as const) {
      appliance.fail('GET /farms/{farmname}', fault);
      appliance.fail('GET /monitoring/fg', fault);
      await restart();
    }
    await restart();

    expect(await told()).toEqual([]);
  });
});
