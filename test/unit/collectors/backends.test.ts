import { describe, expect, it } from 'vitest';
import { backends } from '../../../src/collectors/backends.ts';
import { collectFarmFrom, familiesOf, linesOf } from './given-replies.ts';

const http = { name: 'shop', profile: 'http', state: 'up' };
const l4 = { name: 'db', profile: 'l4xnat', state: 'up' };

const httpBackend = (more: object = {}) => ({
  id: '0',
  ip: '198.51.100.11',
  port: 8080,
  service: 'front',
  status: 'up',
  established: 5,
  pending: 0,
  ...more,
});

const l4Backend = (more: object = {}) => ({
  id: 0,
  ip: '198.51.100.21',
  port: 5432,
  status: 'up',
  established: 9,
  pending: 0,
  weight: 1,
  priority: 1,
  max_conns: 0,
  ...more,
});

describe('the backends collector', () => {
  it('writes the backends of an HTTP farm by service', async () => {
    // The farm configuration has the weights of services, which would be duplicates here.
    const list = [
      httpBackend({ weight: 5, priority: 1 }),
      httpBackend({ id: '1', ip: '198.51.100.12', status: 'down', established: 0 }),
    ];

    const collected = await collectFarmFrom(backends, http, {
      readFarmStats: { backends: list, sessions: [], total_sessions: 1 },
    });

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_farm_sessions{appliance="lb",farm="shop"} 1
      zlb_farm_backends{appliance="lb",farm="shop",service="front",status="up"} 1
      zlb_farm_backends{appliance="lb",farm="shop",service="front",status="down"} 1
      zlb_farm_backends{appliance="lb",farm="shop",service="front",status="maintenance"} 0
      zlb_farm_backends{appliance="lb",farm="shop",service="front",status="unknown"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080",status="up"} 1
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080",status="down"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080",status="maintenance"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080",status="unknown"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080",status="up"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080",status="down"} 1
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080",status="maintenance"} 0
      zlb_backend_status{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080",status="unknown"} 0
      zlb_backend_established_connections{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080"} 5
      zlb_backend_established_connections{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080"} 0
      zlb_backend_pending_connections{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080"} 0
      zlb_backend_pending_connections{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080"} 0
      zlb_backend_info{appliance="lb",farm="shop",service="front",backend="198.51.100.11:8080",id="0",ip="198.51.100.11",port="8080"} 1
      zlb_backend_info{appliance="lb",farm="shop",service="front",backend="198.51.100.12:8080",id="1",ip="198.51.100.12",port="8080"} 1
      "
    `);
    expect(collected.states).toEqual([
      'backend shop front 198.51.100.11:8080 up',
      'backend shop front 198.51.100.12:8080 down',
    ]);
  });

  it('writes the backends of an L4 farm without a service, and no limit for 0', async () => {
    const list = [
      l4Backend(),
      l4Backend({ id: 1, ip: '2001:db8::21', max_conns: '100', weight: '2', established: '3' }),
    ];

    const collected = await collectFarmFrom(backends, l4, { listFarmBackends: { params: list } });

    expect(collected.asked).toEqual(['listFarmBackends']);
    const settings = /^zlb_(?:farm_sessions|backend_(?:max_connections|weight|priority|info))/;
    expect(collected.states).toEqual(['backend db  198.51.100.21:5432 up', 'backend db  [2001:db8::21]:5432 up']);
    expect(collected.text.split('\n').filter((line) => settings.test(line))).toMatchInlineSnapshot(`
      [
        "zlb_backend_max_connections{appliance="lb",farm="db",service="",backend="[2001:db8::21]:5432"} 100",
        "zlb_backend_weight{appliance="lb",farm="db",service="",backend="198.51.100.21:5432"} 1",
        "zlb_backend_weight{appliance="lb",farm="db",service="",backend="[2001:db8::21]:5432"} 2",
        "zlb_backend_priority{appliance="lb",farm="db",service="",backend="198.51.100.21:5432"} 1",
        "zlb_backend_priority{appliance="lb",farm="db",service="",backend="[2001:db8::21]:5432"} 1",
        "zlb_backend_info{appliance="lb",farm="db",service="",backend="198.51.100.21:5432",id="0",ip="198.51.100.21",port="5432"} 1",
        "zlb_backend_info{appliance="lb",farm="db",service="",backend="[2001:db8::21]:5432",id="1",ip="2001:db8::21",port="5432"} 1",
      ]
    `);
  });

  it('writes sums of all backends in compact mode, and states only of those down or in maintenance', async () => {
    const list = ['up', 'down', 'maintenance', 'undefined', 'fgDOWN', 'dancing'].map((status, id) =>
      l4Backend({ id, ip: `198.51.100.${id}`, status, max_conns: 100 }),
    );

    const collected = await collectFarmFrom(backends, l4, { listFarmBackends: { params: list } }, { compact: true });

    expect(linesOf(collected, 'zlb_farm_backends').match(/status="\w+"\} \d+/g)).toEqual([
      'status="up"} 1',
      'status="down"} 2',
      'status="maintenance"} 1',
      'status="unknown"} 2',
    ]);
    expect(familiesOf(collected)).toEqual(['zlb_farm_backends', 'zlb_backend_status', 'zlb_backend_info']);
    expect(linesOf(collected, 'zlb_backend_status').match(/backend="\S+",status="\w+"\} 1/g)).toEqual([
      'backend="198.51.100.1:5432",status="down"} 1',
      'backend="198.51.100.2:5432",status="maintenance"} 1',
      'backend="198.51.100.4:5432",status="down"} 1',
    ]);
    expect(linesOf(collected, 'zlb_backend_status').split('\n')).toHaveLength(3 * 4);
    expect(linesOf(collected, 'zlb_backend_info').split('\n')).toHaveLength(3);
    expect(collected.states, 'changes of state are seen for all').toHaveLength(6);
  });

  it('reads a GSLB farm, which has no counters and no sessions', async () => {
    const list = [{ alias: null, id: 1, ip: '198.51.100.31', port: 80, service: 'geo', status: 'undefined' }];

    const collected = await collectFarmFrom(
      backends,
      { name: 'geo', profile: 'gslb', state: 'up' },
      { readFarmStats: { backends: list, client: { reqs: 9120 }, server: {}, extended: {} } },
    );

    expect(linesOf(collected, 'zlb_backend_status').match(/status="(\w+)"\} 1$/m)?.[1]).toBe('unknown');
    expect(collected.text).not.toMatch(/connections|sessions|weight/);
  });

  it('reads an empty farm', async () => {
    const empty = await collectFarmFrom(backends, http, {
      readFarmStats: { backends: [], sessions: [], total_sessions: 0 },
    });
    const silent = await collectFarmFrom(backends, http, { readFarmStats: { backends: null } });

    expect(empty.text).toBe('zlb_farm_sessions{appliance="lb",farm="shop"} 0\n');
    expect(silent.text).toBe('');
  });

  it('shows every backend of a stopped farm as unknown, despite the reply', async () => {
    const collected = await collectFarmFrom(
      backends,
      { ...http, state: 'down' },
      { readFarmStats: { backends: [httpBackend({ status: 'up' })] } },
    );

    expect(collected.states).toEqual(['backend shop front 198.51.100.11:8080 unknown']);
    expect(linesOf(collected, 'zlb_farm_backends')).toContain('status="up"} 0');
  });

  it.each([
    ['fgDOWN', 'down'],
    ['active', 'up'],
    ['undefined', 'unknown'],
    ['maintenance', 'maintenance'],
    ['-1', 'unknown'],
    ['', 'unknown'],
    ['Up', 'up'],
    ['constructor', 'unknown'],
    ['toString', 'unknown'],
  ])('shows and counts the word %j as %s', async (word, state) => {
    const collected = await collectFarmFrom(backends, http, {
      readFarmStats: { backends: [httpBackend({ status: word })] },
    });

    expect(linesOf(collected, 'zlb_backend_status').match(/status="(\w+)"\} 1$/m)?.[1]).toBe(state);
    expect(linesOf(collected, 'zlb_farm_backends').match(/status="(\w+)"\} 1$/m)?.[1]).toBe(state);
  });

  it('distinguishes backends of one service by id only if they share an address', async () => {
    const list = [
      httpBackend({ id: '0' }),
      httpBackend({ id: '1' }),
      httpBackend({ id: '2', port: 8081 }),
      httpBackend({ id: '0', service: 'api' }),
    ];

    const collected = await collectFarmFrom(backends, http, { readFarmStats: { backends: list } });

    expect(collected.states.map((line) => line.split(' ').slice(2, 4).join(' '))).toEqual([
      'front 198.51.100.11:8080#0',
      'front 198.51.100.11:8080#1',
      'front 198.51.100.11:8081',
      'api 198.51.100.11:8080',
    ]);
    expect(collected.duplicates).toBe(0);
  });

  it('keeps one of two identical backends, and does not know the state of one that has two', async () => {
    const list = [httpBackend(), httpBackend(), l4Backend({ status: 'up' }), l4Backend({ status: 'down' })];

    const collected = await collectFarmFrom(backends, http, { readFarmStats: { backends: list } });

    expect(collected.data.backends?.map(({ state }) => state)).toEqual(['up', 'unknown']);
    expect(collected.duplicates).toBe(0);
  });

  it('names a backend without a port by its address, brackets an IPv6 address, and writes one without fields', async () => {
    const list = [
      {},
      l4Backend({ port: '' }),
      l4Backend({ id: 1, ip: '2001:db8::1', port: null }),
      l4Backend({ id: 2, ip: '2001:db8::1' }),
    ];

    const collected = await collectFarmFrom(backends, l4, { listFarmBackends: { params: list } });

    expect(collected.text).not.toMatch(/undefined|null|NaN/);
    expect(collected.states.map((line) => line.split(' ').at(-2))).toEqual([
      '',
      '198.51.100.21',
      '[2001:db8::1]',
      '[2001:db8::1]:5432',
    ]);
  });

  it.each([
    ['shop', 'http', true],
    ['shop', '', true],
    ['modules', 'http', false],
    ['total', 'l4xnat', false],
    ['link', 'datalink', false],
    ['..', 'http', false],
    ['a/b', 'http', false],
    ['shop\n', 'http', false],
    ['shop (old)', 'http', true],
  ])('reads the farm %j with the profile %j: %j', (name, profile, covered) => {
    expect(backends.covers({ name, profile, state: 'up' })).toBe(covered);
  });
});
