import {
  certificate,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../../simulator/world-parts.ts';
import { byFile, byName, card, createWorld, enterprise, virtual } from '../../simulator/world-creation.ts';
import type { BackendState, Farm } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';

/** The size of one appliance. Every two farms share an address. */
const size = { farms: 50, httpsFarms: 30, backends: 10, certificates: 40, cards: 2, addresses: 25, vpns: 4 };

/** `usual`: nearly all is well. `rack`: every second backend is down. `bad`: nothing is well. */
export type Mood = 'usual' | 'rack' | 'bad';

const dayMs = 86_400_000;
const vip = (farm: number) => `192.0.2.${20 + Math.floor(farm / 2)}`;

/**
 * A full Enterprise appliance. On a bad day no backend of any farm is up and all certificates end
 * within the same week: as many alerts as there can be, and as many of them as can be in one rule.
 */
export function createApplianceWorld(mood: Mood, nowMs: number): World {
  const bad = mood === 'bad';
  const file = (index: number) => `farm-${index}_example_com.pem`;
  return createWorld({
    ...enterprise('lb-large', nowMs),
    farms: byName(numbered(size.farms, (farm) => createFarm(farm, mood, file))),
    certificates: byFile(
      numbered(size.certificates, (index) =>
        certificate(file(index), {
          notBefore: nowMs - 90 * dayMs,
          notAfter: nowMs + (bad ? 5 * dayMs : (40 + index) * dayMs),
        }),
      ),
    ),
    farmguardians: byName([farmguardian('check-http', { command: 'check_http -H HOST -p PORT' })]),
    interfaces: byName([
      ...numbered(size.cards, (index) => ({ ...card(`eth${index}`, `192.0.2.${index + 2}`), status: up(!bad) })),
      ...numbered(size.addresses, (index) => ({ ...virtual(`eth0:v${index}`, vip(2 * index)), status: up(!bad) })),
    ]),
    vpns: byName(
      numbered(size.vpns, (index) => ({ name: `site-${index}`, profile: 'site_to_site' as const, status: up(!bad) })),
    ),
    cluster: {
      interface: 'eth0',
      check_interval: 1,
      failback: 'disabled',
      nodes: [
        {
          name: 'lb-large',
          ip: '192.0.2.2',
          node: 'local',
          role: 'master',
          status: bad ? 'failure' : 'ok',
          message: '',
        },
      ],
    },
    backups: byName([{ name: 'weekly', createdAt: nowMs - (bad ? 90 : 3) * dayMs, version: '8.4.0' }]),
    packages: { status: 'Updates available', packages: ['openssl', 'proxy', 'web-gui'], last_check: 'this morning' },
    ...(bad
      ? { load: { ...createWorld().load, cpu: { user: 80, nice: 0, sys: 15, iowait: 0, irq: 0, softirq: 4 } } }
      : {}),
  });
}

function createFarm(farm: number, mood: Mood, file: (index: number) => string): Farm {
  const bad = mood === 'bad';
  const common = {
    name: `farm-${String(farm + 1).padStart(2, '0')}`,
    vip: vip(farm),
    vport: farm % 2 === 0 ? '80' : '443',
  };
  const state = (backend: number) => ({
    status: statusOf(farm * size.backends + backend, mood),
    established: bad ? 0 : 20 + ((farm + backend) % 50),
    pending: bad ? 40 : 0,
  });
  const address = (backend: number) => `10.${farm}.0.${backend + 10}`;
  if (farm < size.httpsFarms)
    return httpFarm({
      ...common,
      listener: 'https',
      certificates: [file(farm)],
      services: [
        service('main', {
          farmguardian: bad ? null : 'check-http',
          backends: numbered(size.backends, (each) => httpBackend(each, address(each), 8080, state(each))),
        }),
      ],
    });
  return l4Farm({
    ...common,
    farmguardian: bad ? null : 'check-http',
    backends: numbered(size.backends, (each) =>
      l4Backend(each, address(each), 8080, { ...state(each), max_conns: 100 }),
    ),
  });
}

/** On a usual day one backend in fifty is down, and one in fifty in maintenance. */
function statusOf(backend: number, mood: Mood): BackendState {
  if (mood === 'bad' || (mood === 'rack' && backend % 2 === 0)) return 'down';
  return backend % 50 === 7 ? 'down' : backend % 50 === 31 ? 'maintenance' : 'up';
}

function up(is: boolean): 'up' | 'down' {
  return is ? 'up' : 'down';
}

function numbered<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
