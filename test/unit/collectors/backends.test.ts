import { expect, it } from 'vitest';
import { applianceFacts } from '../../../src/collectors/appliance-facts.ts';
import { backendsCollector } from '../../../src/collectors/backends.ts';
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

it('the backends collector leaves backend weights to the farm configuration collector', async () => {
  const list = [httpBackend({ weight: 5, priority: 1 })];

  const { text } = await collectFarmFrom(backendsCollector, http, { readFarmStats: { backends: list } });

  expect(text).not.toMatch(/weight|priority/);
});

it('the backends collector in compact mode writes sums of all backends, and states only of unavailable ones', async () => {
  const list = ['up', 'down', 'maintenance', 'undefined', 'fgDOWN', 'dancing'].map((status, id) =>
    l4Backend({ id, ip: `198.51.100.${id}`, status, max_conns: 100 }),
  );

  const collected = await collectFarmFrom(
    backendsCollector,
    l4,
    { listFarmBackends: { params: list } },
    { compact: true },
  );

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

it('the backends collector reads a GSLB farm, which has no counters and no sessions', async () => {
  const list = [{ alias: null, id: 1, ip: '198.51.100.31', port: 80, service: 'geo', status: 'undefined' }];

  const collected = await collectFarmFrom(
    backendsCollector,
    { name: 'geo', profile: 'gslb', state: 'up' },
    { readFarmStats: { backends: list, client: { reqs: 9120 }, server: {}, extended: {} } },
  );

  expect(linesOf(collected, 'zlb_backend_status').match(/status="(\w+)"\} 1$/m)?.[1]).toBe('unknown');
  expect(collected.text).not.toMatch(/connections|sessions|weight/);
});

it('the backends collector reads an empty farm', async () => {
  const empty = await collectFarmFrom(backendsCollector, http, {
    readFarmStats: { backends: [], sessions: [], total_sessions: 0 },
  });
  const silent = await collectFarmFrom(backendsCollector, http, { readFarmStats: { backends: null } });

  expect(empty.text).toBe('zlb_farm_sessions{appliance="lb",farm="shop"} 0\n');
  expect(silent.text).toBe('');
});

it('the backends collector shows no sessions where the appliance says that it could not read them', async () => {
  const stopped = await collectFarmFrom(
    backendsCollector,
    { ...http, state: 'down' },
    { readFarmStats: { backends: [], sessions: [], total_sessions: 0, warning: 'It was not possible.' } },
  );

  expect(stopped.data.backends).toBeUndefined();
  expect(stopped.text).toBe('');
});

it('the backends collector reports unknown backends when a farm of unknown state lists none', async () => {
  const inSummary = { farms: [{ name: 'shop', profile: 'http', services: 1 }], counts: [] };
  const [farm] = applianceFacts(new Map([['summary', inSummary]])).farms ?? [];

  const collected = await collectFarmFrom(backendsCollector, farm!, { readFarmStats: { backends: [] } });

  expect(collected.data.backends).toBeUndefined();
});

it('the backends collector uses the session count of the appliance, which may list fewer sessions', async () => {
  const readFarmStats = { backends: [], sessions: [], total_sessions: 1 };

  expect((await collectFarmFrom(backendsCollector, http, { readFarmStats })).text).toMatch(
    /^zlb_farm_sessions\{.*\} 1\n$/,
  );
});

it('the backends collector shows every backend of a stopped farm as unknown, despite the reply', async () => {
  const collected = await collectFarmFrom(
    backendsCollector,
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
])('the backends collector maps the state %j to %s, and counts it', async (word, state) => {
  const collected = await collectFarmFrom(backendsCollector, http, {
    readFarmStats: { backends: [httpBackend({ status: word })] },
  });

  expect(linesOf(collected, 'zlb_backend_status').match(/status="(\w+)"\} 1$/m)?.[1]).toBe(state);
  expect(linesOf(collected, 'zlb_farm_backends').match(/status="(\w+)"\} 1$/m)?.[1]).toBe(state);
});

it('the backends collector distinguishes backends of one service by id only if they share an address', async () => {
  const list = [
    httpBackend({ id: '0' }),
    httpBackend({ id: '1' }),
    httpBackend({ id: '2', port: 8081 }),
    httpBackend({ id: '0', service: 'api' }),
  ];

  const collected = await collectFarmFrom(backendsCollector, http, { readFarmStats: { backends: list } });

  expect(collected.states.map((line) => line.split(' ').slice(2, 4).join(' '))).toEqual([
    'front 198.51.100.11:8080#0',
    'front 198.51.100.11:8080#1',
    'front 198.51.100.11:8081',
    'api 198.51.100.11:8080',
  ]);
  expect(collected.duplicates).toBe(0);
});

it('the backends collector keeps one of two identical backends, and reports conflicting states as unknown', async () => {
  const list = [httpBackend(), httpBackend(), l4Backend({ status: 'up' }), l4Backend({ status: 'down' })];

  const collected = await collectFarmFrom(backendsCollector, http, { readFarmStats: { backends: list } });

  expect(collected.data.backends?.map(({ state }) => state)).toEqual(['up', 'unknown']);
  expect(collected.duplicates).toBe(0);
});

it('the backends collector names a backend by its address without a port, and brackets an IPv6 address', async () => {
  const list = [
    {},
    l4Backend({ port: '' }),
    l4Backend({ id: 1, ip: '2001:db8::1', port: null }),
    l4Backend({ id: 2, ip: '2001:db8::1' }),
  ];

  const collected = await collectFarmFrom(backendsCollector, l4, { listFarmBackends: { params: list } });

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
])('the backends collector decides about the farm %j with the profile %j: %j', (name, profile, covered) => {
  expect(backendsCollector.covers({ name, profile, state: 'up' })).toBe(covered);
});
