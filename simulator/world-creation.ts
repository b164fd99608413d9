import { networkInterface } from './world-parts.ts';
import type { World } from './world.ts';

const memory = {
  MemTotal: 24_105.56,
  MemFree: 23_523.88,
  MemUsed: 526.96,
  Buffers: 2.43,
  Cached: 89.8,
  SwapTotal: 0,
  SwapFree: 0,
  SwapUsed: 0,
  SwapCached: 0,
};

/**
 * Makes an appliance without farms, of the newest Community release if `parts` says nothing else.
 */
export function createWorld(parts: Partial<Omit<World, 'reboot'>> = {}): World {
  return {
    edition: 'community',
    release: 'newest',
    product: 'relianoid',
    proxy: 'pound',
    hostname: 'lb',
    productVersion: '7.9.0',
    applianceVersion: 'RCE 7',
    kernelVersion: '6.1.0-30-amd64',
    platform: 'nocloud',
    language: '',
    farms: new Map(),
    l4Daemon: { state: 'running', leftProcesses: 0, startsLater: new Set() },
    certificates: new Map(),
    acme: new Map(),
    interfaces: new Map(),
    farmguardians: new Map(),
    backups: new Map(),
    vpns: new Map(),
    users: new Map([['root', { name: 'root', key: '', enabled: true, password: 'admin' }]]),
    groups: new Map(),
    ipds: new Map(),
    remoteSyslog: undefined,
    load: {
      cores: 2,
      cpu: { user: 0.5, nice: 0, sys: 0, iowait: 0, irq: 0, softirq: 0.5 },
      load: [0.45, 0.4, 0.32],
      memory,
    },
    settings: { snmpCommunity: 'public' },
    activation: { installed: undefined, certificateKey: '4f3c-90aa-1177-machine', refusedBecause: undefined },
    packages: { status: 'unknown', packages: [], last_check: '' },
    cluster: undefined,
    otherConnections: 0,
    moving: false,
    countingSinceMs: undefined,
    ...parts,
    reboot() {
      this.countingSinceMs = undefined;
      for (const { traffic } of this.interfaces.values()) if (traffic) traffic.received = traffic.sent = 0;
    },
  };
}

/** Returns a map of parts by their names. */
export function byName<Named extends { readonly name: string }>(parts: readonly Named[]): Map<string, Named> {
  return new Map(parts.map((part) => [part.name, part]));
}

/** Returns a map of certificates by their files. */
export function byFile<Filed extends { readonly file: string }>(parts: readonly Filed[]): Map<string, Filed> {
  return new Map(parts.map((part) => [part.file, part]));
}

const dayMs = 86_400_000;

/** Returns what the Enterprise appliances have in common. Dates are relative to `nowMs`. */
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

/** Returns the dates of a certificate, given in days from `nowMs`. */
export function lifeOf(nowMs: number, fromDay: number, toDay: number) {
  return { notBefore: nowMs + fromDay * dayMs, notAfter: nowMs + toDay * dayMs };
}

/** Returns a permanent licence that is in date. */
export function licensed(hostname: string, nowMs: number): World['activation'] {
  return {
    installed: { kind: 'permanent', hostname, ...lifeOf(nowMs, -200, 530) },
    certificateKey: `machine-of-${hostname}`,
    refusedBecause: undefined,
  };
}

/** Makes a network card whose traffic counters are not zero. */
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

/** Makes a virtual interface on a card. */
export function virtual(name: string, ip: string) {
  return networkInterface(name, { type: 'virtual', ip, mac: '02:00:5e:00:00:01', parent: name.split(':')[0] ?? '' });
}
