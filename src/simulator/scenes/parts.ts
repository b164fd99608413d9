import { networkInterface } from '../world-parts.ts';
import type { World } from '../world.ts';

const dayMs = 86_400_000;

/** What the Enterprise appliances have in common. Dates are about `nowMs`. */
export function enterprise(hostname: string, nowMs: number): Partial<World> {
  return {
    edition: 'enterprise',
    hostname,
    productVersion: '8.4.0',
    applianceVersion: 'EVA 8000, hypervisor: KVM',
    language: 'en',
    activation: licensed(hostname, nowMs),
  };
}

/** A permanent licence in date. */
export function licensed(hostname: string, nowMs: number): World['activation'] {
  return {
    installed: { kind: 'permanent', hostname, notBefore: nowMs - 200 * dayMs, notAfter: nowMs + 530 * dayMs },
    certificateKey: `machine-of-${hostname}`,
    refusedBecause: undefined,
  };
}

/** A network card that has counted for a while. */
export function card(name: string, ip: string, mibPerSecond = 0.01) {
  const mac = `02:00:5e:${ip
    .split('.')
    .slice(1)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join(':')}`;
  return networkInterface(name, {
    type: 'nic',
    ip,
    mac,
    gateway: '',
    traffic: {
      received: 51_240.77,
      sent: 48_211.03,
      receivedPerSecond: mibPerSecond,
      sentPerSecond: 0.9 * mibPerSecond,
    },
  });
}

/** A virtual interface on a card. */
export function virtual(name: string, ip: string) {
  return networkInterface(name, { type: 'virtual', ip, mac: '02:00:5e:00:00:01', parent: name.split(':')[0] ?? '' });
}
