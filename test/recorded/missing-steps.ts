import {
  certificate,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../../simulator/world-parts.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import type { HttpFarm, L4Farm } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';

/**
 * The appliance before the first recorded write: cards and certificates, and nothing else of what
 * the reads show.
 */
export function worldBeforeWrites(): World {
  const world = recordedWorld();
  world.farms.clear();
  world.backups.clear();
  world.certificates.delete('newsite.csr');
  for (const { name, template } of world.farmguardians.values()) if (!template) world.farmguardians.delete(name);
  world.backups.set('before-upgrade', { name: 'before-upgrade', createdAt: 0, version: '7.9.0' });
  const root = world.users.get('root');
  if (root) root.password = 'TESTPASS';
  return world;
}

/** Changes of the appliance before a recorded write that were not recorded themselves. */
export const missingSteps: Readonly<Record<string, (world: World) => void>> = {
  '209-cert-create-csr': (world) => world.certificates.delete('garbage.pem'),
  '213-farm-create-http-string-port': (world) =>
    world.farms.set('webshop', httpFarm({ name: 'webshop', vip: '192.168.101.21', vport: '80' })),
  '217-farm-create-l4xnat-all': (world) =>
    world.farms.set('multi-l4', l4Farm({ name: 'multi-l4', vip: '192.168.101.22', vport: '9000:9005,9999' })),
  '225-farm-create-empty': (world) =>
    world.farms.set('redirector', httpFarm({ name: 'redirector', vip: '192.168.101.21', vport: '8083' })),
  '229-service-create-legacy': (world) => http(world, 'secure-shop').services.push(service('secure')),
  '237-backend-add-webshop': (world) => {
    const frontend = http(world, 'webshop').services[0];
    if (frontend?.backends.length === 1) frontend.backends.push(httpBackend(1, '10.10.10.12', 8080));
  },
  '241-backend-add-legacy': (world) =>
    http(world, 'secure-shop').services[0]?.backends.push(httpBackend(1, '10.10.10.12', 8080)),
  '245-backend-add-db-l4': (world) => l4(world, 'db-l4').backends.push(l4Backend(0, '10.10.10.11', 5432)),
  '249-backend-add-dns-udp': (world) => l4(world, 'dns-udp').backends.push(l4Backend(0, '10.10.10.11', 53)),
  '253-farm-cert-add': (world) => Object.assign(http(world, 'secure-shop'), { listener: 'https' }),
  '259-farm-action-restart-secure-shop': (world) =>
    Object.assign(http(world, 'secure-shop'), { configError: 'A line of the configuration is wrong.' }),
  '261-farm-action-restart-redirector': (world) => {
    Object.assign(http(world, 'legacy'), { needsRestart: false });
    Object.assign(http(world, 'oldportal'), { needsRestart: false });
  },
  '269-fg-create-blank': (world) =>
    world.farmguardians.set('shop-http', farmguardian('shop-http', { command: 'check_http', description: 'The shop' })),
  '281-fg-add-secure': (world) => {
    Object.assign(http(world, 'secure-shop'), { configError: undefined, needsRestart: false, running: true });
    l4(world, 'db-l4').backends.push(l4Backend(3, '10.10.10.14', 5432));
  },
  '297-farm-rename-while-up': (world) =>
    world.farms.set('throwaway', httpFarm({ name: 'throwaway', vip: '192.168.101.21', vport: '8099' })),
  '301-farm-delete-again': (world) => world.farms.delete('renamed'),
  '322-cert-delete': (world) =>
    world.certificates.set('tobedeleted.pem', certificate('tobedeleted.pem', { notBefore: 0, notAfter: 0 })),
  '330-session-cookie-get-version': (world) => world.sessions.set('4689f4e016a50b97eb679e3d8250f8f8', 'root'),
};

function http(world: World, name: string): HttpFarm {
  const farm = world.farms.get(name);
  if (farm?.profile !== 'http') throw new Error(`the recorded order of writes has no HTTP farm ${name} here`);
  return farm;
}

function l4(world: World, name: string): L4Farm {
  const farm = world.farms.get(name);
  if (farm?.profile !== 'l4xnat') throw new Error(`the recorded order of writes has no L4xNAT farm ${name} here`);
  return farm;
}
